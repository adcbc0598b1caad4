"""Validators: whole documents, on llgcy/core/json.pyx without masks."""
import json

import llgcy

PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
                                           "tags": {"type": "array", "items": {"enum": ["new", "used"]}, "maxItems": 3}},
          "required": ["name", "age"], "additionalProperties": False}


class Person:
    """A small document."""

    def setup(self):
        self.validator = llgcy.Validator(PERSON)
        self.value = {"name": "Ann", "age": 12, "tags": ["new"]}
        self.text, self.wrong = json.dumps(self.value), json.dumps({**self.value, "age": 200})
        for document in (self.text, self.value, self.wrong):
            self.validator.is_valid(document)

    def time_text(self):
        self.validator.is_valid(self.text)

    def time_value(self):
        self.validator.is_valid(self.value)

    def time_refused_text(self):
        self.validator.is_valid(self.wrong)

    def time_compile(self):
        llgcy.Validator(PERSON)


class Rows:
    """A document of 1,000 objects."""

    def setup(self):
        self.validator = llgcy.Validator({"type": "array", "items": PERSON})
        self.text = json.dumps([{"name": f"Ann {i}", "age": i % 150} for i in range(1000)])
        self.validator.is_valid(self.text)

    def time_text(self):
        self.validator.is_valid(self.text)
