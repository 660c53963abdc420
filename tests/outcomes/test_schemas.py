"""The schema of a database, and what Kubernetes says of a thing."""

from __future__ import annotations

import json

from told import later, read, said

_SCHEMA = """CREATE TABLE categories (
	category_id INTEGER PRIMARY KEY AUTOINCREMENT,
	category_name TEXT NOT NULL
)
CREATE TABLE sqlite_sequence(name,seq)
CREATE TABLE `order_items` (
	order_id INTEGER,
	item_id INTEGER,
	list_price DECIMAL (10, 2) NOT NULL,
	PRIMARY KEY (order_id, item_id),
	FOREIGN KEY (order_id) REFERENCES orders (order_id) ON DELETE CASCADE
)
CREATE TABLE staffs (staff_id INTEGER, email TEXT NOT NULL, manager_id INTEGER, store_id INTEGER)
"""


def test_each_table_of_a_schema_is_told_with_its_own_columns():
    told = "categories(category_id, category_name); sqlite_sequence(name, seq)"
    told += "; order_items(order_id, item_id, list_price);"
    assert said(_SCHEMA).startswith(told)
    asked = later(query="SELECT manager_id FROM staffs")
    assert read(_SCHEMA, later=asked).said.startswith("staffs(staff_id, email, manager_id, store_id); categories(")


def test_neither_keys_nor_comments_nor_strings_of_a_table_are_columns():
    made = (
        "CREATE TABLE IF NOT EXISTS roles (\n  `key` varchar(20), -- of a role, unique\n"
        "  state ENUM('on','off') DEFAULT 'on' COMMENT 'on, or off',\n  CHECK(state IN ('on', 'off')),\n"
        "  KEY by_state (state)\n) ENGINE=InnoDB;\nCREATE TEMPORARY TABLE t (index int);\n"
    )
    assert said(made, limit=100) == "roles(key, state); t(index)"


def test_a_text_that_speaks_of_two_tables_is_no_schema():
    prose = (
        "CREATE TABLE a (x INT);\nCREATE TABLE b (y INT);\n" + "The second one holds what the first refers to.\n" * 9
    )
    assert "a(x)" not in said(prose)


def test_a_schema_that_was_cut_ends_with_the_columns_that_are_there():
    cut = _SCHEMA[: _SCHEMA.index(" manager_id")]
    assert said(cut, limit=300).endswith("staffs(staff_id, email)")


def test_of_a_thing_of_kubernetes_its_state_is_told():
    described = (
        "Name:                   user-service\nNamespace:              social\n"
        "CreationTimestamp:      Tue, 15 Sep 2026 12:21:49 +0000\nSelector:               service=user-service\n"
        "Replicas:               0 desired | 0 updated | 0 total\nStrategyType:           RollingUpdate\n"
        "Pod Template:\n  Containers:\n   user-service:\n    State:          Waiting\n"
        "      Reason:       CrashLoopBackOff\n    Restart Count:  7\n    Environment:  <none>\n"
    )
    state = "Replicas: 0 desired | 0 updated | 0 total; State: Waiting; Reason: CrashLoopBackOff; Restart Count: 7"
    assert said(described) == f"Name: user-service; {state}"
    warned = f"{described}Events:\n  Warning  BackOff  9s  kubelet  Back-off restarting failed container\n"
    assert (
        said(warned, limit=100) == f"Warning BackOff 9s kubelet Back-off restarting failed container; {state[:33]}…"
    )


def test_what_is_an_example_in_the_description_of_an_interface_is_told_as_that():
    page = {
        "path": "/notes",
        "description": "Search the notes of somebody. " * 8,
        "response_schemas": {
            "success": [{"note_id": 1, "created_at": "2019-01-01T00:00:00"}],
            "failure": {"why": "x"},
        },
    }
    told = read(json.dumps(page, indent=1), later=later(sort="created_at", since="2019-01-01T00:00:00")).said
    assert "response_schemas=(success=[(" in told
