"""What a worker is given to do: a part, or what of it is missing, and where that stands in the input."""

from __future__ import annotations

from msgspec import Struct

from trajcompress.dataset.cutting import Part
from trajcompress.run.parts.committed import CommittedPart
from trajcompress.run.parts.cursor import Cursor


class Assignment(Struct, frozen=True):
    """A part to be worked on, from its beginning or from that of a ``piece``, at ``start``.

    ``end_index`` is the row of its source at which to stop, where later pieces are there already: then the last one
    that is made is not the last of the part. Of ``again``, which is there already, the failed rows are tried again.
    """

    part: Part
    start: Cursor
    piece: int = 0
    end_index: int | None = None
    is_last: bool = True
    again: CommittedPart | None = None
