"""``config init`` and the files of ``configs/``."""

from __future__ import annotations

from pathlib import Path

import commands
import pytest

from trajcompress.settings import Settings, resolve
from trajcompress.settings.files import shipped_file

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
WINDOWS = {"15k": 16_384, "32k": 32_768, "128k": 131_072}
PRESETS = sorted({path.stem for path in CONFIGS.glob("*.yaml")} - {"prices"})


def init(folder, *arguments):
    return commands.run_here("config", "init", *arguments, cwd=folder)


def settings_of(path):
    resolved = resolve({}, path, environ={}, dotenv=None)
    assert resolved.notes == []
    return resolved.settings


@pytest.mark.parametrize("preset", PRESETS)
def test_every_file_of_configs_can_be_written_and_used(tmp_path, preset):
    ran = init(tmp_path, "my.yaml", "--preset", preset)
    assert ran.code == 0, ran.stderr
    assert (tmp_path / "my.yaml").read_bytes() == (CONFIGS / f"{preset}.yaml").read_bytes()
    settings_of(tmp_path / "my.yaml")


@pytest.mark.parametrize(("preset", "window"), WINDOWS.items())
def test_a_file_for_a_window_says_so_and_fits_it(preset, window):
    path = shipped_file(f"{preset}.yaml")
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# For ")
    assert f"{window:,} tokens" in first
    compression = settings_of(path).compression
    assert 0.9 * window < compression.target_max_tokens < window


def test_without_a_name_it_writes_every_setting_to_trajcompress_yaml(tmp_path):
    ran = init(tmp_path)
    assert ran.stdout == ""
    assert "trajcompress compress INPUT --config trajcompress.yaml" in ran.stderr
    assert settings_of(tmp_path / "trajcompress.yaml") == Settings()


def test_a_file_that_is_there_is_replaced_only_with_force(tmp_path):
    mine = tmp_path / "trajcompress.yaml"
    mine.write_text("mine")
    ran = init(tmp_path)
    assert (ran.code, ran.stderr) == (2, "error: trajcompress.yaml: exists; --force replaces it\n")
    assert mine.read_text() == "mine"
    assert init(tmp_path, "--force").code == 0
    assert settings_of(mine) == Settings()


def test_to_standard_output(tmp_path):
    ran = init(tmp_path, "-", "--preset", "32k")
    assert ran.stdout == (CONFIGS / "32k.yaml").read_text()
    assert ran.stderr == ""
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_an_error_of_one_line(tmp_path):
    ran = init(tmp_path, "no/my.yaml")
    assert (ran.code, ran.stderr) == (2, "error: no/my.yaml: cannot be written: No such file or directory\n")


def test_a_wheel_holds_the_files_where_they_are_looked_for(tmp_path):
    pytest.importorskip("hatchling", reason="hatchling builds the wheel; pip install -e '.[dev]'")
    import zipfile

    from hatchling.builders.wheel import WheelBuilder

    builder = WheelBuilder(str(CONFIGS.parent))
    (wheel,) = builder.build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {f"trajcompress/configs/{path.name}" for path in CONFIGS.iterdir()} <= names
    assert "trajcompress/run/folder/card.md.jinja" in names


def test_a_source_distribution_holds_what_the_tests_read(tmp_path):
    pytest.importorskip("hatchling", reason="hatchling builds the distribution; pip install -e '.[dev]'")
    import tarfile

    from hatchling.builders.sdist import SdistBuilder

    root = CONFIGS.parent
    (path,) = SdistBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("data", "docs", "scripts", "tests"):
        assert {
            str(file.relative_to(root))
            for file in (root / folder).rglob("*.*")
            if file.is_file() and "__pycache__" not in file.parts
        } <= names


def test_the_present_settings_are_written_with_where_they_came_from(tmp_path):
    (tmp_path / ".env").write_text("TRAJCOMPRESS_RPM=60\nOPENAI_API_KEY=sk-0123456789abcdefwxyz\n")
    (tmp_path / "mine.yaml").write_text("protected_turns: {last_n_turns: 3}\n")
    ran = init(
        tmp_path, "all.yaml", "--config", "mine.yaml", "--model", "m", "--role-map", "boss=user", "--overwrite"
    )
    assert ran.code == 0, ran.stderr
    assert "output.overwrite True is not written" in ran.stderr
    text = (tmp_path / "all.yaml").read_text()
    assert "Set by: .env (TRAJCOMPRESS_RPM)." in " ".join(text.replace("#", " ").split())
    assert "0123" not in text
    found = settings_of(tmp_path / "all.yaml")
    given = {"summarization.model": "m", "input.role_map": ["boss=user"], "summarization.rpm": 60}
    assert found == resolve(given, tmp_path / "mine.yaml", environ={}, dotenv=None).settings


def test_a_shipped_file_takes_no_settings(tmp_path):
    ran = init(tmp_path, "--preset", "32k", "--rpm", "60")
    assert (ran.code, ran.stdout) == (2, "")
    assert "--rpm: --preset writes a file as it is shipped" in ran.stderr
    assert not list(tmp_path.iterdir())
