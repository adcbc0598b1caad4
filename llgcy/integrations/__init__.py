"""Hosts: the programs and libraries whose models llgcy constrains. Each module needs its host and is imported by name."""
