"""A short tour of a module, asked for and reported in a language that is not English."""

from __future__ import annotations

from dataclasses import dataclass

from recorder import source
from recorder.agent import Agent, UnsuitableError
from recorder.topics import Topic


@dataclass(frozen=True, slots=True)
class Words:
    """What is said, in one language."""

    system: str
    request: str
    look: str
    read: str
    search: str
    test: str
    report: str
    thanks: str
    reply: str


LANGUAGES = {
    "ko": Words(
        system="당신은 코드 저장소를 살펴보는 도우미입니다. 추측하지 말고 도구로 확인한 뒤 답하세요.",
        request="`{topic}` 모듈의 사본을 검토해 주세요. 함수 `{name}`이 어디에 있고 누가 쓰는지 알려 주세요.",
        look="먼저 폴더 구조를 살펴보겠습니다.",
        read="`{name}`은 `{path}`의 {line}번째 줄에 있습니다. 그 부분을 읽겠습니다.",
        search="이제 이 함수를 쓰는 곳을 찾아보겠습니다.",
        test="마지막으로 테스트를 실행해 보겠습니다.",
        report="`{name}`은 `{path}`의 {line}번째 줄에 정의되어 있고, 인자는 `{signature}`입니다. 이름이 나오는 줄은 "
        "모두 {hits}개입니다. 테스트는 그대로 통과합니다.",
        thanks="고맙습니다. 한 줄로 요약하면요?",
        reply="`{path}:{line}`의 `{name}`은 {hits}곳에서 언급되며, 고칠 것은 없습니다.",
    ),
    "zh": Words(
        system="你是一名代码审查助手。不要猜测，先用工具查看文件，再回答问题。",
        request="请检查我们的 `{topic}` 模块副本：函数 `{name}` 在哪里，有哪些地方用到它？",
        look="我先看一下目录结构。",
        read="`{name}` 在 `{path}` 的第 {line} 行。我读一下这一段。",
        search="接下来查找所有用到它的地方。",
        test="最后运行一遍测试。",
        report="`{name}` 定义在 `{path}` 第 {line} 行，参数是 `{signature}`。一共有 {hits} 行提到它。"
        "测试全部通过，没有改动。",
        thanks="谢谢。能用一句话总结吗？",
        reply="`{path}:{line}` 的 `{name}` 被提到 {hits} 次，不需要修改。",
    ),
}


def tour(agent: Agent, topic: Topic, language: str) -> None:
    """Where a function stands and who uses it."""
    words = LANGUAGES[language]
    path = agent.workspace.sources_of(topic)[0]
    found = [function for function in source.functions(agent.workspace.text(path)) if function.required]
    if not found:
        raise UnsuitableError(f"{topic.name} has no functions")
    function = agent.pick(found)
    known = {
        "topic": topic.name,
        "name": function.name,
        "path": path,
        "line": function.line,
        "signature": function.signature,
    }
    agent.system(words.system)
    agent.user(words.request.format(**known))
    agent.do(words.look, ("list_dir", {"path": "."}), ("list_dir", {"path": "src"}))
    agent.read(words.read.format(**known), path, function.line, min(function.end, function.line + 40))
    hits = agent.search(words.search, rf"\b{function.name}\b", "src")
    agent.test(words.test, f"tests.test_{topic.name}")
    known["hits"] = len(hits)
    agent.reply(words.report.format(**known))
    agent.user(words.thanks)
    agent.reply(words.reply.format(**known))
