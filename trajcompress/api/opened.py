"""What stays open between calls: tokenizer, summariser with its limits and stores, and the threads they work in."""

from __future__ import annotations

import contextlib
import os
from concurrent.futures import ThreadPoolExecutor

from trajcompress.api.background import Background
from trajcompress.api.options import naming_arguments
from trajcompress.run.build.components import build_counter, build_format_options, count_workers
from trajcompress.run.build.summarizer import build_summarizer, open_cache, require_context
from trajcompress.settings import Settings
from trajcompress.summarize.cache.summarizer import Stores
from trajcompress.summarize.off_loop import OffLoop


class Opened:
    """Works for calls from several threads and event loops at once. Close it when done.

    Raises:
        SettingsError: settings contradict each other, or a key is needed and there is none.
        TokenizerError: the tokenizer cannot be loaded.
    """

    def __init__(self, settings: Settings) -> None:
        self._process = os.getpid()
        self._formats = build_format_options(settings)
        with contextlib.ExitStack() as undo, naming_arguments():
            cache, claims = undo.enter_context(open_cache(settings, lambda _: None))
            stores = Stores(None, cache, claims=claims) if cache else None
            self._summarizer = build_summarizer(settings, stores)
            self._counter = build_counter(settings)
            undo.callback(self._counter.tokenizer.close)
            if not settings.summarization.is_built_in:
                require_context(settings, self._counter)
            self._executor = ThreadPoolExecutor(count_workers(settings), "trajcompress-row")
            undo.callback(self._executor.shutdown, wait=False)
            self._off_loop = OffLoop(self._executor)
            self._prepare(settings)
            self._background = Background()
            self._closing = undo.pop_all()

    def _prepare(self, settings: Settings) -> None:
        """Make what else it takes; what is raised closes what was opened before."""

    @property
    def is_ours(self) -> bool:
        """Whether it was opened in this process: of a fork of it, threads and connections are not there."""
        return self._process == os.getpid()

    def close(self) -> None:
        """Close connections and files; what is under way is cancelled."""
        if self.is_ours:
            self._background.stop(self._summarizer.aclose())
            self._closing.close()
