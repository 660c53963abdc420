"""Engines: what turns texts into numbers of tokens, in bulk.

The tokenizer's own backend is the reference. ``gigatoken`` is about 40 times as fast, ``fastokens`` 4 to 40 times;
the first of them that loads the tokenizer and agrees with the reference on a probe of awkward texts is used, and from
then on about one text in a thousand is counted by both. On the first disagreement it raises, so that the caller can
count everything again with the reference: a count is right or it is not given. Where the two are known to disagree,
about characters that only one of them has heard of, the reference counts.
"""

from __future__ import annotations

import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from trajcompress.errors import EngineMismatchError, UncountableTextError
from trajcompress.processes.interpreter import release_memory

if TYPE_CHECKING:  # loading it costs more than the whole of --help
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer


PROBE: tuple[str, ...] = (
    "",
    " ",
    "\n\n\n",
    "  leading and trailing  ",
    "tab\tand\r\ncarriage return\r",
    "def f(x):\n    return {'a': [1, 2.5, None]}  # comment\n",
    "I'll can't WE'VE don’t 'S 'T 's",
    "1234567890 0.5 1,000,000 1e-9 0x7f ١٢٣ ½ ² Ⅷ",
    "CamelCaseIdentifier snake_case_identifier kebab-case SCREAMING_CASE",
    "/usr/local/lib/python3.11/site-packages/__init__.py:42",
    "https://user@example.org:8080/path?q=1&r=%20#frag",
    "<|im_start|>user\nhi<|im_end|>\n<|endoftext|>",
    "<｜begin▁of▁sentence｜><｜User｜>x<｜Assistant｜><think>y</think>",
    "[INST] x [/INST] </s><s> <bos> <eos> [CLS] [SEP] [MASK]",
    '<tool_call>\n{"name": "ls", "arguments": {"path": "."}}\n</tool_call>',
    "中文分词测试，标点。「引号」",
    "日本語のテキスト、カタカナ・ひらがな",
    "한국어 문장입니다. 띄어쓰기",
    "ภาษาไทยไม่มีช่องว่าง",
    "हिन्दी में वाक्य है",
    "العربية من اليمين إلى اليسار",
    "עברית עִם נִקּוּד",
    "Ελληνικά Русский Українська ქართული հայերեն",
    "café cafe\u0301 ﬁ ﬀ Å Å é̂̃",
    "👍🏽 👨‍👩‍👧‍👦 🇩🇪 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "\u00a0\u2003\u200b\u200d\ufeff\u2028\u2029\u3000\u0085",
    "\x00\x01\x1b[31mred\x1b[0m\x7f\x80\x9f",
    "\ufffd\uffff\U0010ffff\ue000",
    "a" * 300,
    " " * 300,
    "=" * 79 + "\n" + "-" * 79,
    "ab" * 200 + "9" * 64,
    "MIIEpAIBAAKCAQEA7bq+Zc0/9dYh3k==",
    "deadbeefcafebabe0123456789abcdef" * 4,
    "x\n \n  \n\t\n\n",
    "mixed中English한국123日本",
    "𝒜𝓁𝓅𝒽𝒶 𝟙𝟚𝟛 ℵ ∑∫√≈ → ⇒ ┌─┐│└┘ ░▒▓",
    "ß ſ İ ı Ǆ ǅ ŉ ΐ",
    'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: bad\n',
    "@@ -1,3 +1,4 @@\n-old\n+new\n context\n",
    "$ ls -la | grep '^d' && echo \"$HOME\" > /dev/null 2>&1",
    '{"k":"v\\u00e9\\n","n":-1.5e+10,"b":true,"x":null}',
    "&lt;div class=&quot;a&quot;&gt; <!-- c --> <br/>",
)


AUDIT_ONE_IN = 1024
_REMEMBERED_CHARS = 256 * 2**20
"""What ``gigatoken`` may remember the words of: some 60 MB of real text, and hostile text takes what it likes for no
longer. To begin anew costs less than a hundredth of the work on such rows."""


_ASCII = bytes(range(128))
_NEW = re.compile(
    "[\u088f\u0c5c\u0cdc\u1acf-\u1aeb\u20c1\u2b96\ua7ce-\ua7f1\ufbc3-\ufbd2\ufd90\ufd91\ufdc8-\ufdce"
    "\U00010940-\U0001095f\U00010ec5-\U00010ed8\U00011b60-\U00011b67\U00011db0-\U00011de9\U00016ea0-\U00016ed3"
    "\U00016ff2-\U00016ff6\U000187f8-\U000187ff\U00018d09-\U00018df2\U0001ccfa-\U0001ccfc\U0001ceba-\U0001cef0"
    "\U0001e6c0-\U0001e6ff\U0001f6d8\U0001f777-\U0001f77a\U0001f8d0-\U0001f8d8\U0001fa54-\U0001fa57"
    "\U0001fa8a-\U0001faef\U0001fbfa\U0002b73a-\U0002b73f\U0002cea2-\U0002cead\U000323b0-\U00033479]"
)
"""Characters that Unicode 17 has (and Unicode 16 or 15 has not) and the patterns of fast engines therefore know as
letters, marks or symbols, while those of a tokenizer may not. https://www.unicode.org/Public/17.0.0/ucd/DerivedAge.txt"""


class Engine(Protocol):
    """Counts texts. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """Named in the metrics."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, no special token added.

        Raises:
            UncountableTextError: a text holds lone surrogates.
            EngineMismatchError: this engine was caught miscounting.
        """
        ...


class ReferenceEngine:
    """Hugging Face tokenizers: the tokenizer's own backend, all texts in one call."""

    name = "huggingface"

    def __init__(self, backend: Tokenizer) -> None:
        self._backend = backend

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        try:
            return [
                len(encoding) for encoding in self._backend.encode_batch_fast(list(texts), add_special_tokens=False)
            ]
        except (TypeError, UnicodeEncodeError) as error:
            raise uncountable(texts, error) from error


class PythonEngine:
    """A tokenizer without such a backend (written in Python): one text at a time."""

    name = "python"

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        try:
            for text in texts:
                text.encode()  # some would take a lone surrogate, and guess
            return [len(self._tokenizer.encode(text, add_special_tokens=False)) for text in texts]
        except UnicodeEncodeError as error:
            raise uncountable(texts, error) from error


class FastEngine(ABC):
    """An engine of somebody else's make, audited against the reference."""

    name: ClassVar[str]

    def __init__(self, definition: str, reference: Engine, *, audit_one_in: int = AUDIT_ONE_IN) -> None:
        """Build from the JSON definition of the backend, after transformers may have changed it.

        Raises:
            ValueError: this kind of tokenizer is not known to it.
            EngineMismatchError: it is known, and the probe miscounted.
        """
        self._load(definition)
        self._reference = reference
        self._audit_one_in = audit_one_in
        self._compare(PROBE, self._count(PROBE))

    @abstractmethod
    def _load(self, definition: str) -> None:
        """Make what encodes."""

    @abstractmethod
    def _count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""

    @abstractmethod
    def _encode(self, text: str) -> NDArray[np.uint32]:
        """Return the tokens of a text."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        try:
            counts = self._count(texts)
        except (TypeError, UnicodeEncodeError) as error:
            raise uncountable(texts, error) from error
        new = [i for i, text in enumerate(texts) if _has_new_characters(text)]
        for i, count in zip(new, self._reference.count([texts[i] for i in new]) if new else (), strict=True):
            counts[i] = count
        audited = [i for i, text in enumerate(texts) if _fingerprint(text) % self._audit_one_in == 0]
        if audited:
            self._compare([texts[i] for i in audited], [counts[i] for i in audited])
        return counts

    def count_pieces(self, text: str, pieces: Sequence[str], delimiters: Sequence[str]) -> list[int]:
        """Return the number of tokens of each piece of a text that is cut in front of special tokens.

        The text is encoded whole, which takes two thirds of the time that its pieces take. Raises as :meth:`count`.
        """
        import numpy as np

        if _has_new_characters(text):
            return self.count(pieces)
        try:
            ids = self._encode(text)
            is_start = np.zeros(len(ids), bool)
            for delimiter in delimiters:  # there are one or two: np.isin takes as long as the encoding
                tokens = self._encode(delimiter)
                if len(tokens) != 1:
                    return self.count(pieces)
                is_start |= ids == tokens[0]
        except (TypeError, UnicodeEncodeError) as error:
            raise uncountable([text], error) from error
        starts = np.flatnonzero(is_start)
        before = [] if text.startswith(tuple(delimiters)) else [0]
        if len(before) + len(starts) != len(pieces):  # some text makes such a token without being one
            return self.count(pieces)
        if _fingerprint(text) % self._audit_one_in == 0:
            self._compare([text], [len(ids)])
        return _lengths([*before, *starts.tolist(), len(ids)])

    def _compare(self, texts: Sequence[str], counts: list[int]) -> None:
        for text, count, expected in zip(texts, counts, self._reference.count(texts), strict=True):
            if count != expected:
                raise EngineMismatchError(
                    f"{self.name} counts {count} tokens, the tokenizer {expected}: {text[:80]!r}"
                )


class GigatokenEngine(FastEngine):
    """``gigatoken``: byte-level BPE, and SentencePiece's with bytes to fall back on.

    Its tables are made in half the time of those of ``fastokens`` and take half the memory. It remembers every word
    that it has met, so it is made anew after so many characters.
    """

    name = "gigatoken"

    def _load(self, definition: str) -> None:
        self._definition = definition.encode()  # a str of it takes four times as much where it holds an emoji
        self._beginning = Lock()
        self._encoder: Any = None
        self._left = 0
        self._encoder_for(0)

    def _encoder_for(self, chars: int) -> Any:
        """Return the encoder for texts of so many characters."""
        from gigatoken.gigatoken_rs import load_hf_json

        with self._beginning:
            self._left -= chars
            if self._encoder is not None and self._left < 0:
                self._encoder = None  # two at once would take twice the memory
                release_memory()
            if self._encoder is None:
                try:
                    self._encoder = load_hf_json(self._definition)
                except RuntimeError as error:
                    raise ValueError(str(error)) from error
                self._left = _REMEMBERED_CHARS
            return self._encoder

    def _count(self, texts: Sequence[str]) -> list[int]:
        encode = self._encoder_for(sum(map(len, texts))).encode
        return [len(encode(text)) for text in texts]

    def _encode(self, text: str) -> NDArray[np.uint32]:
        encoded: NDArray[np.uint32] = self._encoder_for(len(text)).encode(text)
        return encoded


class FastokensEngine(FastEngine):
    """``fastokens``: byte-level BPE, also without some of the bytes."""

    name = "fastokens"

    def _load(self, definition: str) -> None:
        from fastokens._native import Tokenizer  # the package's root needs transformers' shims

        self._encoder = Tokenizer.from_json_str(definition)

    def _count(self, texts: Sequence[str]) -> list[int]:
        import numpy as np

        _, offsets = self._encoder.encode_batch_flat(list(texts))
        return _lengths(np.frombuffer(offsets, "<u8").tolist())

    def _encode(self, text: str) -> NDArray[np.uint32]:
        import numpy as np

        return np.frombuffer(self._encoder.encode_batch_flat([text])[0], "<u4")


def fast_engine(definition: str, reference: Engine) -> FastEngine:
    """Return the first fast engine that takes a tokenizer, and counts the probe as the reference does.

    Raises:
        ValueError: none knows this kind of tokenizer.
        EngineMismatchError: none counts right that does.
    """
    miscounts: EngineMismatchError | None = None
    for kind in (GigatokenEngine, FastokensEngine):
        try:
            return kind(definition, reference)
        except EngineMismatchError as error:
            miscounts = error
        except ValueError:
            pass  # it says itself that it does not know this kind
    raise miscounts or ValueError("no fast engine knows this kind of tokenizer")


def _lengths(offsets: list[int]) -> list[int]:
    return [end - start for start, end in pairwise(offsets)]


def _has_new_characters(text: str) -> bool:
    """Say so; most of a text is ASCII, which goes first as bytes, and of the rest each character is tried once."""
    if text.isascii():
        return False
    rest = text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
    return _NEW.search("".join(set(rest))) is not None


def _fingerprint(text: str) -> int:
    """Return a number that spreads; a sample of the whole text goes in, as whole datasets begin with one prompt."""
    step = len(text) // 64 + 1
    return zlib.crc32(f"{len(text)}{text[::step]}{text[-64:]}".encode())


def uncountable(texts: Sequence[str], error: Exception) -> Exception:
    """Return the error to raise for texts that an engine did not take."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as reason:
            return UncountableTextError(f"no tokenizer can encode the lone surrogate at character {reason.start}")
    return error
