"""Pillow in the place of a decoder that torchvision lacks: builds for a GPU do not load it where there is none."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any


def ensure_decoder() -> None:
    """Have ``torchvision.io`` decode images; before others import its functions by name."""
    import torch
    import torchvision

    if not hasattr(torch.ops.image, "decode_image"):
        torchvision.io.decode_image = torchvision.io.read_image = _decoded


def _decoded(given: Any, *_: Any, **__: Any) -> Any:
    import numpy as np
    import torch
    from PIL import Image

    packed = bytes(given.numpy()) if hasattr(given, "numpy") else Path(given).read_bytes()
    pixels = np.array(Image.open(io.BytesIO(packed)).convert("RGB"))
    return torch.from_numpy(pixels).permute(2, 0, 1)
