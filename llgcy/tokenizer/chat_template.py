"""Where a turn ends: the token that a model's chat template puts after what the assistant says.

A chat model ends its turn with that token, which often is another than the tokenizer's end-of-sequence token. Templates are programs in
Jinja; the only way to know is to run one, in Jinja's sandbox, as transformers does.
"""
from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from llgcy.errors import TokenizerError
from llgcy.log import LOGGER

_ANSWER = "llgcyanswer"         # what the assistant says; no template changes such a word
_CONVERSATION = [{"role": "user", "content": "question"}, {"role": "assistant", "content": _ANSWER}]
_GENERATION = re.compile(r"\{%-?\s*(end)?generation\s*-?%\}")       # a tag of transformers' own, which marks text and changes none


def beside(folder: str) -> str | None:
    """The template that lies beside a tokenizer: ``chat_template.jinja``, or in ``tokenizer_config.json``; None where there is none.

    Raises
    ------
    TokenizerError
        The file is no JSON.
    """
    try:
        with open(os.path.join(folder, "chat_template.jinja"), encoding="utf-8") as stream:
            return stream.read()
    except OSError:
        pass
    file = os.path.join(folder, "tokenizer_config.json")
    try:
        with open(file, encoding="utf-8") as stream:
            config = json.load(stream)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise TokenizerError(f"{file} can't be read ({error}); pass eos_token_id=") from error
    return chosen(config.get("chat_template") if isinstance(config, dict) else None)


def chosen(templates: Any) -> str | None:
    """The template for a plain conversation: of several, the one named "default"."""
    if isinstance(templates, list):         # as tokenizer_config.json writes them
        templates = {entry.get("name"): entry.get("template") for entry in templates if isinstance(entry, dict)}
    if isinstance(templates, dict):
        templates = templates.get("default")
    return templates if isinstance(templates, str) else None


def end_token(template: str, names: Iterable[str], variables: Mapping[str, Any]) -> str | None:
    """The token that ends the assistant's turn.

    Parameters
    ----------
    template : str
    names : iterable of str
        The tokens that it may be.
    variables : mapping
        What the template knows besides the messages, such as ``eos_token``.

    Returns
    -------
    str or None
        None: the template puts none of the names there, can't be run for a plain conversation, or Jinja isn't installed (both are logged).

    Examples
    --------
    >>> end_token("{% for m in messages %}<s>{{ m.content }}</s>{% endfor %}", ["<s>", "</s>"], {})
    '</s>'
    """
    try:
        from jinja2.exceptions import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        LOGGER.warning("the chat template can't be read without the package jinja2, so the token that ends a turn isn't known from it")
        return None

    def refuse(message: str) -> None:
        raise TemplateError(message)

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    environment.globals.update(raise_exception=refuse, strftime_now=lambda format: "2025-01-01")
    environment.filters["tojson"] = lambda value, **options: json.dumps(value, ensure_ascii=False)
    try:
        text = environment.from_string(_GENERATION.sub("", template)).render(messages=_CONVERSATION, add_generation_prompt=False, **variables)
    except Exception as error:              # a template may do whatever Jinja can
        LOGGER.warning("the chat template can't be run for a plain conversation (%s), so the token that ends a turn isn't known from it", error)
        return None
    after = text.rpartition(_ANSWER)[2].lstrip() if _ANSWER in text else ""
    return max((name for name in names if name and after.startswith(name)), key=len, default=None)
