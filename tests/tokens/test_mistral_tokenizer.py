from __future__ import annotations

import json
import shutil
import sys
from types import SimpleNamespace

import pytest
from carried import carried

from trajcompress.errors import SettingsError, TokenizerError, UncountableTextError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.tokens import mistral_tokenizer
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.mistral_tokenizer import read_mistral
from trajcompress.tokens.pieces import CUT
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.tokens.trained_template import Rendering

pytestmark = pytest.mark.wants("mistral-common")
TEXTS = (
    "edit 15:15\n                distance = abs(elem - elem2)\nend_of_edit\n",
    "Code output: Traceback (most recent call last):\n\n\n    x = 1\n        y = 2",
    "  two spaces, 한국어 中文 👍🏽\r\n\t",
)
ROW = {
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": TEXTS[0]},
        {"role": "assistant", "content": TEXTS[1]},
        {"role": "user", "content": TEXTS[2]},
        {"role": "assistant", "content": "So."},
    ]
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>"}), encoding="utf-8"
    )
    return tmp_path


def counted(read):
    (text,) = read.template.renderings(read_trajectory(ROW, "x", FormatOptions()))
    return sum(read.engine.count([part for part in text.split(CUT) if part]))


def as_encoded(file, version):
    from mistral_common.protocol.instruct.normalize import get_normalizer
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    theirs = MistralTokenizer.from_file(file).instruct_tokenizer
    request = ChatCompletionRequest.from_openai(messages=ROW["messages"])
    normalizer = get_normalizer(theirs.tokenizer.version, None)
    assert str(theirs.tokenizer.version) == version
    return len(theirs.encode_instruct(normalizer.from_chat_completion_request(request)).tokens)


def test_a_sentencepiece_model_is_counted_by_mistral_common_and_not_by_what_transformers_makes_of_it(folder):
    model = carried("mistral_instruct", ".v7")
    shutil.copy(model, folder / "tokenizer.model")
    loaded = load_tokenizer(str(folder), rendering=Rendering("mistral", mistral="v7"))
    assert loaded.engine.name == "mistral-common"
    assert loaded.notes == ("tokens are those of mistral-common's v7 (--mistral-version)",)
    assert TokenCounter(loaded).count(read_trajectory(ROW, "x", FormatOptions())).tokens == as_encoded(model, "v7")
    converted = load_tokenizer(str(folder))
    assert any(
        len(converted.hf.encode(text, add_special_tokens=False)) < loaded.engine.count([text])[0] for text in TEXTS
    )


def test_what_transformers_made_of_a_sentencepiece_model_is_refused_without_the_model(folder):
    shutil.copy(carried("mistral_instruct", ".v7"), folder / "tokenizer.model")
    load_tokenizer(str(folder)).hf.save_pretrained(folder / "made")
    with pytest.raises(TokenizerError, match=r"rows would be longer than counted; put that model beside it"):
        load_tokenizer(str(folder / "made"), rendering=Rendering("mistral", mistral="v7"))


@pytest.mark.parametrize("missing", ["sentencepiece.sentencepiece_model_pb2", "google.protobuf"])
def test_where_sentencepiece_and_protobuf_do_not_go_together_it_is_said(folder, monkeypatch, missing):
    shutil.copy(carried("mistral_instruct", ".v7"), folder / "tokenizer.model")
    monkeypatch.setitem(sys.modules, missing, None)
    if missing == "google.protobuf":
        monkeypatch.delitem(sys.modules, "sentencepiece.sentencepiece_model_pb2", raising=False)
    monkeypatch.setattr("trajcompress.tokens.tokenizer.import_transformers", transformers_that_takes_it_for_another)
    with pytest.raises(TokenizerError, match=r"Error parsing line .*sentencepiece .*pip install -U '.*\[mistral\]'"):
        load_tokenizer(str(folder))


def transformers_that_takes_it_for_another():
    def from_pretrained(*_, **__):
        raise ValueError("Error parsing line b'\\x0e'")

    return SimpleNamespace(AutoTokenizer=SimpleNamespace(from_pretrained=from_pretrained))


def test_tekken_is_counted_by_mistral_common(folder):
    file = carried("tekken_240911", ".json")
    shutil.copy(file, folder / "tekken.json")
    assert counted(read_mistral(str(folder), "v3")) == as_encoded(file, "v3")


def test_a_repository_of_the_hub_is_counted_by_the_file_that_was_fetched(tmp_path, monkeypatch):
    file = carried("tekken_240911", ".json")
    snapshot = tmp_path / "models--mistralai--Small" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (tmp_path / "models--mistralai--Small" / "refs").mkdir()
    (tmp_path / "models--mistralai--Small" / "refs" / "main").write_text("abc", encoding="utf-8")
    (snapshot / "tekken.json").symlink_to(file)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    assert counted(read_mistral("mistralai/Small", "v3")) == as_encoded(file, "v3")
    assert read_mistral("mistralai/Other", "v3") is None
    assert read_mistral("no name of a repository", "v3") is None


def test_another_version_than_that_of_the_file_is_an_error(folder):
    shutil.copy(carried("mistral_instruct", ".v7"), folder / "tokenizer.model")
    shutil.copy(carried("mistral_instruct", ".v7"), folder / "tokenizer.model.v7")
    with pytest.raises(SettingsError, match=r"v3, but tokenizer.model.v7 in .* is of v7: give --mistral-version v7"):
        read_mistral(str(folder), "v3")


def test_without_mistral_common_a_file_of_its_own_is_refused_with_the_remedy(folder, monkeypatch):
    shutil.copy(carried("mistral_instruct", ".v7"), folder / "tokenizer.model")
    monkeypatch.setattr(mistral_tokenizer, "find_spec", lambda _name: None)
    with pytest.raises(TokenizerError, match=r"pip install 'trajcompress-cli\[mistral\]'"):
        read_mistral(str(folder), "v7")


def test_a_damaged_file_is_named(folder):
    shutil.copy(carried("mistral_instruct", ".v7"), folder / "tokenizer.model")
    (folder / "tokenizer.model.v7").write_bytes(b"no model")
    with pytest.raises(TokenizerError, match=r"tokenizer\.model\.v7: mistral-common cannot load it"):
        read_mistral(str(folder), "v7")


def test_a_text_with_a_lone_surrogate_is_refused(folder):
    shutil.copy(carried("mistral_instruct", ".v7"), folder / "tokenizer.model")
    with pytest.raises(UncountableTextError, match="lone surrogate at character 1"):
        read_mistral(str(folder), "v7").engine.count(["fine", "a\ud800"])
