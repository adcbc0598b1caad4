"""Compiles grammars for one tokenizer, and keeps what it has compiled."""
from __future__ import annotations

import os
import threading
import time
import weakref
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from llgcy import api
from llgcy.content import canonical, digest
from llgcy.core.matcher import CompiledGrammar
from llgcy.limits import Limits
from llgcy.log import LOGGER
from llgcy.tokenizer import Tokenizer

# What a compiled grammar takes besides what it counts itself: objects of the schema layer or of the rules, by the length of the text that
# they were read from. Measured on real schemas: some 100 KB for one of 1 KB.
OBJECT_BYTES = 1 << 15
OBJECT_BYTES_PER_BYTE = 64

_compilers: weakref.WeakSet[Compiler] = weakref.WeakSet()


class Compiler:
    """Compiles grammars for one tokenizer, each once; safe to be used by many threads.

    Two grammars are the same where they were made in the same way from the same text, with the same options. What was not asked for
    the longest goes where all together take more than ``cache_bytes``; who still has a compiled grammar may go on to use it.

    Parameters
    ----------
    tokenizer : Tokenizer
    limits : Limits, optional
        Of each grammar; `compile` and `submit` may say otherwise.
    cache_bytes : int
        Of all compiled grammars that are kept, with all that they have made: counted where it can be, else estimated; 0 keeps none.
    threads : int
        That compile what was submitted. They share the interpreter with everyone else, so more than one help little.

    Examples
    --------
    >>> import llgcy
    >>> compiler = llgcy.Compiler(llgcy.Tokenizer.single_byte())
    >>> future = compiler.submit(llgcy.Grammar.from_regex("[a-z]+"))
    >>> future.result() is compiler.compile(llgcy.Grammar.from_regex("[a-z]+"))
    True
    """

    def __init__(self, tokenizer: Tokenizer, limits: Limits | None = None, cache_bytes: int = 1 << 30, threads: int = 1):
        if not isinstance(cache_bytes, int) or cache_bytes < 0:
            raise ValueError(f"cache_bytes must be an int from 0 on, not {cache_bytes!r}")
        if not isinstance(threads, int) or threads < 1:
            raise ValueError(f"threads must be an int from 1 on, not {threads!r}")
        self.tokenizer, self.limits, self.cache_bytes, self.threads = tokenizer, limits or Limits(), cache_bytes, threads
        self._cache: OrderedDict[Any, tuple[CompiledGrammar, int]] = OrderedDict()        # and the bytes of its objects
        self._counts = {"hits": 0, "misses": 0, "joined": 0, "failed": 0, "cancelled": 0, "evicted": 0}
        self._seconds = 0.0
        self._renew()
        _compilers.add(self)

    def _renew(self) -> None:
        """Locks and threads: none is shared with the parent of a fork."""
        self._lock = threading.Lock()
        self._under_way: dict[Any, Future[CompiledGrammar]] = {}
        self._pool: ThreadPoolExecutor | None = None

    def compile(self, grammar: api.Grammar, limits: Limits | None = None) -> CompiledGrammar:
        """The compiled grammar: a kept one, or one that another thread is about to finish, or a new one.

        Parameters
        ----------
        grammar : Grammar
        limits : Limits, optional
            Instead of the compiler's.

        Raises
        ------
        TokenizerError, LimitError, UnsatisfiableError
            As `llgcy.compile` does; an error is not kept.
        """
        limits = limits or self.limits
        key = _key(grammar, limits)
        with self._lock:
            kept = self._kept(key)
            if kept is not None:
                return kept
            future = self._under_way.get(key)
            if future is None:
                future = self._under_way[key] = Future()
                mine = True
                self._counts["misses"] += 1
            else:
                mine = False
                self._counts["joined"] += 1
        if mine:
            self._work(key, future, grammar, limits)
        return future.result()

    def submit(self, grammar: api.Grammar, limits: Limits | None = None) -> Future[CompiledGrammar]:
        """Compiles in the background.

        Returns
        -------
        concurrent.futures.Future
            Of a CompiledGrammar. ``cancel()`` succeeds until the compiling begins.
        """
        limits = limits or self.limits
        key = _key(grammar, limits)
        future: Future[CompiledGrammar] = Future()
        with self._lock:
            kept = self._kept(key)
            if kept is None:
                if self._pool is None:
                    self._pool = ThreadPoolExecutor(self.threads, "llgcy-compiler")
                self._pool.submit(self._answer, future, grammar, limits)
        if kept is not None:
            future.set_running_or_notify_cancel()
            future.set_result(kept)
        return future

    def _answer(self, future: Future[CompiledGrammar], grammar: api.Grammar, limits: Limits) -> None:
        """The background's part of submit()."""
        if not future.set_running_or_notify_cancel():
            with self._lock:
                self._counts["cancelled"] += 1
            return
        try:
            future.set_result(self.compile(grammar, limits))
        except BaseException as error:      # noqa: BLE001 - it belongs to whoever asks the future
            future.set_exception(error)

    def _kept(self, key: Any) -> CompiledGrammar | None:
        """Under the lock."""
        kept = self._cache.get(key)
        if kept is None:
            return None
        self._cache.move_to_end(key)
        self._counts["hits"] += 1
        return kept[0]

    def _work(self, key: Any, future: Future[CompiledGrammar], grammar: api.Grammar, limits: Limits) -> None:
        """Compiles; whoever waits for the same gets the outcome too."""
        begin = time.perf_counter()
        compiled, failure = None, None
        try:
            compiled = api.compile(grammar, self.tokenizer, limits)
        except BaseException as error:      # noqa: BLE001 - raised by everyone who waits
            failure = error
        seconds = time.perf_counter() - begin
        if compiled is not None:
            LOGGER.info("a grammar compiled for %s in %.1f ms", self.tokenizer.source, 1000 * seconds)
        with self._lock:
            self._seconds += seconds
            self._under_way.pop(key, None)
            if compiled is None:
                self._counts["failed"] += 1
            else:
                self._cache[key] = compiled, _object_bytes(grammar)
                self._evict()
        if compiled is None:
            future.set_exception(failure)
        else:
            future.set_result(compiled)

    def _evict(self) -> None:
        """Under the lock: the ones not asked for the longest, as long as all together are too large."""
        size = self._size()
        while self._cache and size > self.cache_bytes:
            _, (gone, objects) = self._cache.popitem(last=False)
            size -= gone.size + objects
            self._counts["evicted"] += 1

    def _size(self) -> int:
        return sum(compiled.size + objects for compiled, objects in self._cache.values())

    def clear(self) -> None:
        """Keeps none of them any longer."""
        with self._lock:
            self._cache.clear()

    def stats(self) -> dict[str, float]:
        """Counters.

        Returns
        -------
        dict
            ``grammars`` kept, and their ``bytes``; ``hits``, ``misses``, and ``joined``: calls that waited for another one's compiling;
            ``failed``, ``cancelled``, ``evicted``; ``seconds`` of compiling.
        """
        with self._lock:
            return {"grammars": len(self._cache), "bytes": self._size(), **self._counts, "seconds": self._seconds}

    def __reduce__(self) -> tuple[Any, ...]:
        return Compiler, (self.tokenizer, self.limits, self.cache_bytes, self.threads)


def _key(grammar: api.Grammar, limits: Limits) -> Any:
    try:
        return digest(grammar._content()), limits
    except TypeError:           # no saved form: it is the same as itself alone
        return grammar, limits


def _object_bytes(grammar: api.Grammar) -> int:
    try:
        return OBJECT_BYTES + OBJECT_BYTES_PER_BYTE * len(canonical(grammar._content()))
    except TypeError:
        return OBJECT_BYTES


def _after_fork() -> None:
    for compiler in list(_compilers):
        compiler._renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
