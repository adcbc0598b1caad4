"""``llgcy bench``: engines side by side on schemas of one's own: time from schema to first mask, and time of each mask with its token."""
