"""What the agent takes from results: words and figures, these also where it rounds them."""

from __future__ import annotations

import pytest
from needing import needed, result, say

from trajcompress.facts.taken import STRONG, words_taken

PRICES = '{"regularMarketPrice": 6305.6, "targetMeanPrice": 306.07172, "trailingPE": 187.70857, "beta": 2.461}'


def taken(result: str, said: str) -> set[str]:
    found = words_taken(["What is it worth?", result, said], [False, True, False], [False, False, True])
    return set(found.get(1, {}))


@pytest.mark.parametrize(
    ("said", "figures"),
    [
        ("It stands at 6,305.60.", {"6305.6"}),
        ("The mean target is $306.07, the ratio 187.71.", {"306.07172", "187.70857"}),
        ("As told, 2.461 it is.", {"2.461"}),
        ("Version 306.1.7 and 306.08 are others, and 2.5 is too short to be known.", set()),
    ],
)
def test_figures_are_taken_from_where_they_were_rounded_from(said: str, figures: set[str]):
    assert taken(PRICES, said) == figures


@pytest.mark.parametrize(
    ("told", "said", "form"),
    [
        ('{"paid": "2020-02-21"}', "It was paid on February 21, 2020.", "2020-02-21"),
        ('{"paid": "2020-02-21"}', "It was paid on 21 Feb 2020.", "2020-02-21"),
        ("Paid on Feb. 21, 2020.", "date=2020-02-21", "Feb. 21, 2020"),
        ("Paid 02/21/2020", "date=2020-02-21", "02/21/2020"),
        ('{"marketCap": 1058053095424}', "It is worth $1.06T.", "1058053095424"),
        ('{"marketCap": 1058053095424}', "It is worth $1.06 trillion.", "1058053095424"),
        ("worth $1.06 trillion", "It is worth $1.06T.", "1.06 trillion"),
        ("sold 48,213 of them", "quantity=48213", "48,213"),
        ("Gross worth $ 6 860,45", "The total is 6860.45.", "6 860,45"),
        ("Summe 6.860,45 EUR", "The total is 6,860.45.", "6.860,45"),
        ("VAT 74,46", "The tax is 74.46.", "74,46"),
        ('{"share": 0.45}', "That is 45 percent.", "0.45"),
        ('{"profitMargins": 0.063829996}', "A margin of 6.38%.", "0.063829996"),
        ('{"changePercent": -2.359882}', "It lost 2.36% since.", "2.359882"),
        ('{"bid": 205500.0, "ask": 206000.0}', "They bid ₩205,500 for it.", "205500.0"),
        ('{"average": 6041.7695}', "On average 6,042 points.", "6041.7695"),
        ('{"target": 230.0}', "The target is $230.", "230.0"),
    ],
)
def test_values_are_taken_from_where_they_stand_in_another_form(told: str, said: str, form: str):
    assert form in taken(told, said)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ('{"paid": "2020-12-21"}', "It was paid on February 21, 2020."),
        ('{"marketCap": 1158053095424, "shares": 1060}', "It is worth $1.06T."),
        ('{"share": 0.4501}', "That is 45%."),  # of few digits only what is exactly so
        ("a commit 48213abc, 148,213 of them", "quantity=48213"),
        ('{"width": 230.4, "rest": 230.0}', "Line 230 is the one."),
        ('{"width": 230.4}', "The target is $230."),
    ],
)
def test_other_values_are_not_taken_for_it(told: str, said: str):
    assert not taken(told, said)


def test_a_date_that_a_person_gave_is_not_taken_from_a_result():
    turns = ["Book it for May 25, 2024.", '{"date": "2024-05-25", "flight": "HAT138"}', "date=2024-05-25 HAT138"]
    assert words_taken(turns, [False, True, False], [False, False, True]) == {1: {"HAT138": STRONG}}


def test_of_many_figures_those_are_found_that_are_said():
    result = " ".join(f"{number / 7:.6f}" for number in range(200_000))
    said = " ".join(f"{number / 7:.2f}" for number in range(0, 200_000, 9))
    assert taken(result, said)


def test_a_figure_without_its_sign_is_no_other():
    taken = words_taken(["first 0.45 and 6000", "", "45 of 6 items"], [True, False, False], [False, True, True])
    assert not taken.get(0)


@pytest.mark.cpu_seconds(30)  # quadratic work would take minutes
def test_very_many_figures_that_an_agent_says_take_linear_time():
    said = " ".join(f"{number} and {number % 997}%" for number in range(100_000, 180_000))
    assert not words_taken(["nothing of it", said], [True, False], [False, True])


@pytest.mark.cpu_seconds(30)  # quadratic work would take minutes
def test_very_many_values_in_another_form_take_linear_time():
    result = " ".join(f"{number}.5 on 2020-01-{number % 28:02}" for number in range(100_000))
    said = " ".join(f"{number / 100:.2f} million, March {number % 28}, {number % 9999}" for number in range(100_000))
    assert not taken(result, said)


@pytest.mark.parametrize("written", ["n = 0x{}", "echo '{}' | xxd"])
def test_a_long_value_is_taken_whatever_it_is_joined_to(written: str):
    modulus = "CE3205AEFBF19FB84FE171F385B6710B61E1B349711B524D"
    assert modulus in taken(f"{modulus}///PROCESS-DONE:0", written.format(modulus))


def test_a_figure_is_taken_from_where_it_is_a_value_though_a_later_listing_counts_so_far():
    texts = ["Fix it.", "The port is 8040.", "8039→import os\n8040→import re\n8041→import sys", "I open port 8040."]
    assert set(words_taken(texts, [False, True, True, False], [False, False, False, True])) == {1}


def test_a_figure_before_a_unit_without_a_space_is_taken():
    assert taken("商务座: 有票 235元\n一等座: 有票 107元", "First class is 107.") == {"107"}


@pytest.mark.parametrize(
    ("told", "said", "fact"),
    [
        ("leaves at 19:00:00, not at 07:00:00", "It leaves at 07:00 PM.", "19:00"),
        ("leaves at 07:30 and 19:30", "It leaves at 7:30 a.m.", "07:30"),
        ("leaves at 00:15", "It leaves at 12:15am.", "00:15"),
        ("departs 12:15", "It leaves at 12:15 pm.", "12:15"),
        ("departs 07:00 PM", "It leaves at 07:00 PM.", "07:00 PM"),
    ],
)
def test_a_time_is_known_as_data_have_it(told, said, fact):
    assert needed([result(told)], [say("assistant", said)]) == (fact,)
