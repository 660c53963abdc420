"""A script names the files that it writes: those are changed where it ran to its end."""

from __future__ import annotations

import pytest
from screens import screen
from summed_up import ask, call, result, section

from trajcompress.outcomes.action.written_files import written_by, written_in
from trajcompress.summarize.extractive import extract


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("open('a.py', 'w').write(text)", ("a.py",)),
        ("with open('a.py', mode='a') as out, open('b.py') as given:\n    out.write(given.read())", ("a.py",)),
        ("with open('b.py') as given:\n    Path('a.py').write_text(given.read())", ("a.py",)),
        ("name = 'src/a.py'\nwith open(name, 'w') as out:\n    json.dump(data, out)", ("src/a.py",)),
        ("path = pathlib.Path('a.py')\npath.write_bytes(data)\npath.write_text(text)", ("a.py",)),
        ("done = Path('a.py').open('w').write(text)", ("a.py",)),
        ("text = open('a.py').read()\nprint(Path('b.py').read_text())", ()),
        ("if new != old:\n    open('a.py', 'w').write(new)", ()),
        ("for path in paths:\n    path.write_text('')", ()),
        ("def save():\n    open('a.py', 'w').write(new)", ()),
        ("open(f'{name}.py', 'w').write(new)\nopen(name, 'w')\nopen()\nopen(1, 'w')", ()),
        ("path = 'a.py'\npath = choose()\nopen(path, 'w')", ()),
        ("path = 'a.py'\npath += '.bak'\nopen(path, 'w')", ()),
        ("path = 'a.py'\nif found:\n    path = 'b.py'\nopen(path, 'w')", ()),
        ("path = 'a.py'\nfor path in paths:\n    pass\nopen(path, 'w')", ()),
        ("path = 'a.py'\ntry:\n    path = find()\nexcept OSError as path:\n    pass\nopen(path, 'w')", ()),
        ("path = 'a.py'\nwith lock:\n    path = 'b.py'\n    open(path, 'w')", ()),
        ("path = 'a.py'\npath, rest = argv\nopen(path, 'w')", ()),
        ("path = 'a.py'\nif path := find():\n    pass\nopen(path, 'w')", ()),
        ("path = 'a.py'\nfrom settings import out as path\nopen(path, 'w')", ()),
        ("def turn():\n    global path\n    path = 'b.py'\npath = 'a.py'\nturn()\nopen(path, 'w')", ()),
        ("path = name = 'a.py'\nif name:\n    other = 'b.py'\nopen(path, 'w')\nopen(name, 'a')", ("a.py",)),
        ("writer.write('a.py')\nopen('a.py', mode)\nrequests.open('a.py', 'w')", ()),
        ("open('a.py', 'w'", ()),
        ("write " + "(" * 900, ()),
        ("x = '\\s'; open('a.py', 'w')", ()),
        ("if not done:\n    sys.exit(0)\nopen('a.py', 'w')", ()),
        ("print('a')\nif not done:\n    quit()\nopen('a.py', 'w')", ()),
        ("if not done:\n    quit()\nopen('a.py', 'w')\nprint('b')\nprint('c')", ("a.py",)),
    ],
)
def test_what_a_script_writes_whatever_holds(code, files):
    assert written_by(code).files == files


@pytest.mark.parametrize("times", [100, 900, 2_400])
@pytest.mark.parametrize("code", ["open('a', 'w'){}", "x = Path{}('x').write_text('y')", "f{}.open('w')"])
def test_a_chain_of_any_length_is_read(code, times):
    for link in (".write(1)", ".a"):
        assert written_by(code.format(link * times)).files == ()


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("python - <<'PY'\nopen('a.py', 'w')\nPY", ("a.py",)),
        ("cd src && python3.11 -u - <<-END && pytest\nopen('a.py', 'w')\nEND", ("a.py",)),
        ("python <<PY\nopen('a.py', 'w')\nPY\npython3 - <<PY\nopen('b.py', 'w')\nPY", ("a.py", "b.py")),
        ("cat > run.py <<'PY'\nopen('a.py', 'w')\nPY\npython run.py", ("a.py",)),
        ("node - <<'JS'\nopen('a.py', 'w')\nJS", ()),
    ],
)
def test_what_a_script_writes_that_a_command_hands_over(command, files):
    assert written_in(command).files == files


PATCH = "p = Path('src/sum.py')\np.write_text(p.read_text().replace('+', '-'))\nprint('patched')"


def changed(printed: str, name: str = "bash", **given: str) -> str:
    text = extract(ask([call("c", name, **given), result("c", printed)], budget=300))
    return section(text, "Files changed").strip() if "Files changed:" in text else ""


def test_a_file_that_a_script_patched_is_called_changed():
    command = f"cd /repo && python - <<'PY'\n{PATCH}\nPY"
    assert changed("patched", command=command) == "- src/sum.py"
    assert changed("patched", "execute_ipython_cell", code=PATCH) == "- src/sum.py"


def test_a_file_is_not_called_changed_where_only_a_copy_of_it_was_written():
    code = "p = 'src/sum.py'\ntext = open(p).read()\np += '.bak'\nopen(p, 'w').write(text)\nprint('saved')"
    assert changed("saved", "execute_ipython_cell", code=code) == ""


def test_a_file_is_not_called_changed_where_the_script_failed():
    failed = 'Traceback (most recent call last):\n  File "<stdin>", line 2, in <module>\nSystemExit: no such block'
    command = f"python - <<'PY'\nassert 'sum' in open('src/sum.py').read()\n{PATCH}\nPY"
    assert changed(failed, command=command) == ""


@pytest.mark.parametrize(("printed", "files"), [("patched", "- src/sum.py"), ("no such block", ""), ("", "")])
def test_a_script_that_may_end_before_has_to_say_that_it_did_not(printed, files):
    command = f"python - <<'PY'\nif '+' not in old:\n    raise SystemExit('no such block')\n{PATCH}\nPY"
    assert changed(printed, command=command) == files


def test_what_a_terminal_repeats_of_a_script_says_nothing():
    script = f"python - <<'PY'\nif '+' not in old:\n    raise SystemExit('no such block')\n{PATCH}\nPY"
    for printed, files in (("no such block", ""), ("patched", "- src/sum.py")):
        assert changed(screen((script, printed)), command=script) == files


@pytest.mark.parametrize(("printed", "files"), [("patched", "- fix.py\n- src/sum.py"), ("not there", "- fix.py")])
def test_a_script_that_is_saved_and_run_changed_what_it_says_that_it_did(printed, files):
    script = "if '+' in old:\n    with open('src/sum.py', 'w') as f:\n        f.write(new)\n    print('patched')\n"
    script += "else:\n    print('not there')"
    for saving in ("cat > fix.py <<'EOF'", "cat <<'EOF' > fix.py"):
        assert changed(printed, command=f"{saving}\n{script}\nEOF\npython fix.py") == files
        assert "src/sum.py" not in changed(printed, command=f"{saving}\n{script}\nEOF\ncat fix.py")


def test_of_branches_that_say_the_same_none_is_known_to_write():
    code = "if a:\n    open('a.py', 'w').write(a)\n    print('done')\nelse:\n    print('done')"
    assert written_by(code).files == ()
    both = (
        "if a:\n    open('a.py', 'w').write(a)\n    print('a')\nelse:\n    open('b.py', 'w').write(b)\n    print('b')"
    )
    assert written_by(both).files == ()
