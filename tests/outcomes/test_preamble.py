"""A source is told by what it says, and not by whose it is or what it imports."""

from __future__ import annotations

import time

import pytest
from told import read

from trajcompress.outcomes.action.actions import describe
from trajcompress.outcomes.printed.preamble import without_preamble

TACTIC = """/-
Copyright (c) 2023 Ann Bee. All rights reserved.
Released under Apache 2.0 license as described in the file LICENSE.
Authors: Ann Bee
-/
import Mathlib.Tactic.Linarith
open Lean Meta

/-! # Ring tactic -/

theorem two : 1 + 1 = 2 := by norm_num
"""
APACHE = """
Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.

    https://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law it is distributed on an "AS IS" BASIS."""


def told(printed, path="src/Ring.lean", limit=60):
    return read(printed, describe("read_file", {"path": path}), limit=limit).said


def own(printed, *kept):
    return "\n".join(line for line in without_preamble(printed.splitlines(), kept) if line.strip())


@pytest.mark.parametrize(
    ("begin", "end"), [("/*", "*/"), ("/-", "-/"), ("{-", "-}"), ("<!--", "-->"), ("(*", "*)"), ('"""', '"""')]
)
@pytest.mark.parametrize("legal", ["Copyright 2020 Ann Bee", f"Copyright 2020 Ann Bee\n{APACHE}"])
def test_a_comment_that_says_whose_a_source_is_goes(begin, end, legal):
    shown = own(f"{begin}\n{legal}\n{end}\n\nrun x = 3\n")
    assert "Ann Bee" not in shown
    assert "Licens" not in shown
    assert shown.endswith("run x = 3")


@pytest.mark.parametrize("sign", ["#", "//", "--", ";;", "%"])
def test_so_do_lines_each_of_which_is_a_comment(sign):
    legal = "\n".join(f"{sign} {line}".rstrip() for line in ("Copyright (C) Ann Bee", *APACHE.splitlines()))
    assert own(f"{legal}\n\nrun x = 3\n") == "run x = 3"


def test_what_else_the_comment_says_stays():
    header = "/* ring.c - adds numbers in a ring\n * Copyright (C) 1999 Ann Bee\n *\n * It wraps around.\n */\nint a;"
    assert own(header) == "/* ring.c - adds numbers in a ring\n * It wraps around.\nint a;"
    assert own("# How rings add up.\nimport a\nrun()") == "# How rings add up.\nrun()"


@pytest.mark.parametrize(
    "imported",
    [
        "import os\nfrom a.b import (\n    c,\n    d,\n)",
        '#include <stdio.h>\n#include "ring.h"',
        "use std::sync::Mutex;\nuse std::{\n    io,\n    fmt,\n};",
        'package ring\n\nimport (\n\t"fmt"\n)',
        "'use client'\n\nimport React, {\n  useState,\n} from 'react'\nconst a = require('a')",
        "#!/usr/bin/env ruby\nrequire 'json'\nrequire_relative 'ring'",
        "using System;\nusing static System.Math;",
        "import qualified Data.Map as Map\nimport Data.List",
    ],
)
def test_imports_go_where_something_follows(imported):
    assert own(f"{imported}\n\nrun x = 3\n") == "run x = 3"
    assert own(imported) == "\n".join(line for line in imported.splitlines() if line.strip())


def test_lines_that_are_taken_up_stay():
    assert own("import a\nimport b\nrun()", "import b") == "import b\nrun()"


def test_a_source_that_is_read_is_told_from_where_it_begins():
    assert told(TACTIC) == "/-! # Ring tactic -/; theorem two : 1 + 1 = 2 := by…"


@pytest.mark.parametrize("path", ["LICENSE", "docs/legal.md", "NOTICE.txt"])
def test_a_licence_that_is_read_is_told(path):
    printed = "// Copyright 2020 Ann Bee\n\nYou may use it.\n" + "You may copy it to whom you like.\n" * 9
    assert told(printed, path).startswith("// Copyright 2020 Ann Bee")


@pytest.mark.parametrize("line", ["/* never closed", "import {", "# Copyright", "--", "from a import ("])
def test_a_long_beginning_takes_no_longer_than_it_is_long(line):
    begin = time.perf_counter()
    without_preamble([line] * 200_000, ())
    assert time.perf_counter() - begin < 3
