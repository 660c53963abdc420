"""A page that Playwright's server shows in YAML is told by where it is, what it says and what is taken up."""

from __future__ import annotations

from told import action, later, read, said

MENU = "".join(f'    - link "Part {n}" [ref=e{n}] [cursor=pointer]:\n      - /url: /c/{n}\n' for n in range(30))
PAGE = f"""- generic [active] [ref=e1]:
  - banner [ref=e2]:
{MENU}  - main [ref=e90]:
    - heading "Checkout" [level=1] [ref=e91]
    - alert [ref=e95]: "Your card was declined."
    - textbox "Card number" [ref=e96]
    - generic [ref=e97]: Total $41.20
    - button "Pay" [ref=e98]
"""
CODE = "### Ran Playwright code\n```js\nawait page.getByRole('button').click();\n```\n"
STATE = "### Page state\n- Page URL: https://shop.test/checkout\n- Page Title: Checkout - Shop\n- Page Snapshot:\n"
CLICK = action("browser_click", element="Pay", ref="e98")


def test_an_alert_and_texts_go_before_links_and_no_code_or_marks_are_told():
    told = read(f"{CODE}{STATE}```yaml\n{PAGE}```\n", CLICK).said
    assert told.startswith('https://shop.test/checkout; Checkout - Shop; alert: "Your card was declined."; heading')
    assert "generic: Total $41.20" in told
    assert "getByRole" not in told
    assert "[ref" not in told


def test_what_is_clicked_next_is_told_with_its_reference():
    told = read(f"{CODE}{STATE}```yaml\n{PAGE}```\n", CLICK, later=later(element="Card number", ref="e96")).said
    assert 'textbox "Card number" [ref=e96]' in told


def test_what_came_of_the_action_is_told():
    told = read(f"### Result\nClicked twice, as asked.\n{STATE}```yaml\n{PAGE}```\n", CLICK).said
    assert told.startswith("Clicked twice, as asked.; https://shop.test/checkout")


def test_a_list_in_yaml_is_no_page():
    values = "".join(f"- generic: value {n}\n  - text: x\n" for n in range(30))
    assert "generic: value 0" in said(values)
