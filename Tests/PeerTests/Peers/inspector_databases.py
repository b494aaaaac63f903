# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium on the inspector's page of databases: everything that it offers, with the mouse and by the keyboard.

    inspector_databases.py READER WRITER

Both are addresses of inspectors with their tokens; the second one allows SQL that writes. The variable SCREENSHOTS may name
a folder to write to. Prints "ok" lines and exits 0, or what failed and exits 1.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import browser, run  # noqa: E402
from inspector_page import expect, ok, open_inspector  # noqa: E402

ROWS = "[...document.querySelectorAll('#rows tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
HEAD = "[...document.querySelectorAll('thead button.head')].find((one) => one.textContent.startsWith({}))"
TABLE = "[...document.querySelectorAll('.table-choice')].find((one) => one.querySelector('.table-name').textContent.startsWith({}))"
WHOLE = "document.querySelectorAll('#rows button.whole')[{}]"
HOSTILE = "<img src=x onerror=alert(1)>"


async def names(page, expected, what):
    """Waits until the names of the people are these."""
    column = f"JSON.stringify({ROWS}.map((row) => row[1]))"
    wanted = json.dumps(json.dumps(expected, separators=(",", ":")))
    await page.wait_until(f"{column} === {wanted}", what)


async def table(page, name):
    await page.wait_until(TABLE.format(json.dumps(name)), f"the table {name!r}")
    await page.click(TABLE.format(json.dumps(name)))


async def rows(page):
    await page.select("database", "Main")
    await table(page, "people")
    await names(page, ["Ann", "Bob", "Zoe"], "the people")
    await page.shows("database-facts", "journal: delete")
    copy = "fetch(document.getElementById('database-copy').href).then((one) => one.text()).then((text) => text.slice(0, 15))"
    expect(await page.evaluate(copy) == "SQLite format 3", "what is downloaded is no copy of the database")
    await page.all_is_named()
    await page.look_at("databases-rows")
    ok("the tables of a database, and the rows of one")
    await page.click(HEAD.format('"age"'))
    await names(page, ["Bob", "Ann", "Zoe"], "people by age")
    await page.click(HEAD.format('"age"'))
    await names(page, ["Zoe", "Ann", "Bob"], "people by age, the oldest first")
    expect(await page.evaluate(f"{HEAD.format(chr(34) + 'age' + chr(34))}.closest('th').getAttribute('aria-sort')")
           == "descending", "the head doesn't say that it is sorted")
    await page.click(HEAD.format('"age"'))
    await names(page, ["Ann", "Bob", "Zoe"], "people in their own order again")
    ok("an order by clicks")
    await page.fill("filter-value", "o")
    await page.press("Enter")
    await names(page, ["Ann", "Bob", "Zoe"], "people with an o anywhere, also in their notes")
    await page.select("filter-column", "name")
    await page.click("filter-apply")
    await names(page, ["Bob", "Zoe"], "people with an o in their names")
    await page.select("filter-is", "null")
    await page.select("filter-column", "picture")
    await page.click("filter-apply")
    await names(page, ["Zoe"], "people without a picture")
    await page.select("filter-is", "contains")
    await page.fill("filter-value", "' OR 1=1 --")
    await page.press("Enter")
    await page.shows("rows-status", "no rows")
    ok("a filter, which is no SQL")
    await table(page, "numbers")
    await page.shows("rows-status", "1–100")
    await page.click("rows-next")
    await page.shows("rows-status", "101–200")
    await page.click("rows-next")
    await page.shows("rows-status", "201–250")
    expect(await page.evaluate("document.getElementById('rows-next').disabled"), "there are no more rows")
    await page.click("rows-back")
    await page.shows("rows-status", "101–200")
    expect((await page.evaluate(ROWS))[0][2] == "9007199254740993", "a number has lost digits")
    ok("pages, there and back, with all digits of large numbers")


async def values(page):
    await table(page, "people")
    await names(page, ["Ann", "Bob", "Zoe"], "the people")
    await page.click(WHOLE.format(0))
    await page.wait_until("document.querySelector('dialog[open] img')", "the picture")
    width = await page.evaluate("document.querySelector('dialog img').decode().then(() => document.querySelector('dialog img').naturalWidth)")
    expect(width == 2, "the picture isn't shown")
    await page.shows("document.querySelector('.cell-text')", "89 50 4e 47")
    await page.all_is_named()
    await page.look_at("databases-value")
    await page.press("Escape")
    await page.wait_until("!document.querySelector('dialog')", "the end of the dialog")
    await page.click(WHOLE.format(1))
    await page.wait_until("document.querySelector('.cell-text')?.textContent.length === 1000", "the whole text")
    link = await page.evaluate("document.querySelector('dialog a').href")
    size = await page.evaluate(f"fetch({json.dumps(link)}).then((answer) => answer.text()).then((text) => text.length)")
    expect(size == 1000, "the download is another")
    await page.press("Escape")
    await page.wait_until("!document.querySelector('dialog')", "the end of the dialog")
    ok("long texts and BLOBs as a whole, and a picture")
    links = await page.evaluate("['csv', 'json'].map((one) => document.getElementById(`export-${one}`).href)")
    texts = [await page.evaluate(f"fetch({json.dumps(link)}).then((answer) => answer.text())") for link in links]
    expect(texts[0].startswith("id,name,age,picture,note\r\n1,Ann,30.0,0x89504e47"), f"the CSV is {texts[0][:80]!r}")
    expect([one["name"] for one in json.loads(texts[1])] == ["Ann", "Bob", "Zoe"], "the JSON is another")
    ok("exports as CSV and JSON")


async def sql(page, writer):
    await page.click("document.querySelector('[data-view=sql]')")
    await page.wait_until("document.getElementById('sql')", "the editor")
    expect(not await page.evaluate("document.getElementById('sql-writes')"), "it offers what isn't allowed")
    await page.fill("sql", "SELECT name, age FROM people WHERE age > 10 ORDER BY age")
    await page.press("Enter", "Control")
    await page.shows("sql-results", "Zoe")
    await page.shows("sql-status", "done")
    await page.all_is_named()
    await page.look_at("databases-sql")
    await page.click("sql-plan")
    await page.shows("document.querySelector('.plan')", "SCAN people")
    await page.fill("sql", "DELETE FROM people")
    await page.click("sql-run")
    await page.shows("sql-status", "only read here")
    await page.fill("sql", "ATTACH 'escape.db' AS x")
    await page.click("sql-run")
    await page.shows("sql-status", "Other files aren't opened")
    await page.fill("sql", "SELECT wrong FROM people")
    await page.click("sql-run")
    await page.shows("sql-status", "no such column")
    ok("SQL that reads, its plan, and what is refused")
    await page.fill("sql", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
    await page.click("sql-run")
    await page.wait_until("!document.getElementById('sql-stop').hidden", "the way to stop it")
    await page.click("sql-stop")
    await page.shows("sql-status", "stopped")
    ok("SQL without an end is stopped")
    options = await page.evaluate("[...document.getElementById('sql-history').options].map((one) => one.textContent)")
    expect(options[1].startswith("SELECT name, age"), f"the history is {options}")
    await page.select("sql-history", "0")
    expect((await page.evaluate("document.getElementById('sql').value")).startswith("SELECT name, age"), "another statement")
    ok("statements of before")
    await writer.select("database", "Main")
    await writer.wait_until("document.querySelector('.table-choice')", "the tables")
    await writer.click("document.querySelector('[data-view=sql]')")
    await writer.wait_until("document.getElementById('sql-writes')", "the way to write")
    await writer.fill("sql", "INSERT INTO changing VALUES ('one'), ('two'); CREATE TABLE added (a)")
    await writer.click("sql-writes")
    # A busy machine needs more than the default of 25 ms.
    await writer.click("sql-long")
    await writer.click("sql-run")
    await writer.shows("sql-status", "done, 2 rows changed")
    await writer.wait_until(TABLE.format('"added"'), "the new table in the list")
    ok("SQL that writes, where it is allowed")


async def hostile(page):
    await table(page, HOSTILE)
    await page.shows("rows", "<svg onload=alert(3)>")
    await page.shows("rows", "␛[31mred⟨U+202E⟩fdp")
    expect(not await page.evaluate("document.querySelector('#main img, #main script, #main b, #rows svg')"), "text became markup")
    await page.click(HEAD.format('"a\\"; DROP"'))
    await page.shows("document.querySelector('th[aria-sort=ascending]')", "DROP TABLE")
    await page.shows("rows", "<svg")
    await table(page, "'; DROP")
    await page.shows("rows", "<b>bold</b>")
    ok("names and values that try to be something else are text")
    await table(page, "corpus")
    await page.shows("rows-status", "1–100")
    while not await page.evaluate("document.getElementById('rows-next').disabled"):
        first = await page.text("rows-status")
        await page.click("rows-next")
        await page.wait_until(f"/^[0-9]/.test(document.getElementById('rows-status').textContent) &&"
                              f" document.getElementById('rows-status').textContent.split(' ')[0] !== {json.dumps(first.split(' ')[0])}",
                              "the next rows")
    count = await page.evaluate("[...document.querySelectorAll('.table-name')].filter((one) => /^x[0-9]/.test(one.textContent)).length")
    expect(count > 30, f"only {count} tables of the corpus are shown")
    for number in range(count):
        await table(page, f"x{number} ")
        await page.wait_until(f"document.querySelector('[role=region]')?.ariaLabel.startsWith('Rows of x{number} ')", "the table")
        await page.wait_until("document.querySelectorAll('#rows tr').length === 1", "its row")
    expect(not await page.evaluate("document.querySelector('#main img, #main script, #main iframe, #main a[href^=javascript]')"),
           "text became markup")
    await page.click("document.querySelector('[data-view=schema]')")
    await page.shows("document.querySelector('.schema')", "CREATE INDEX people_name")
    await page.shows("document.querySelector('.schema')", HOSTILE)
    await page.look_at("databases-schema")
    ok("a corpus of texts that have attacked others, as names and as values")
    await page.click("refresh")
    await page.shows("document.querySelector('.schema')", "added")
    await page.select("database", "Broken")
    await page.shows("database-view", "no SQLite database, or it is encrypted")
    ok("what is new, and what can't be read")


async def check(reader, writer):
    async with browser(60) as tools:
        page = await open_inspector(tools, reader, "reader", fragment="databases")
        other = await open_inspector(tools, writer, "writer", fragment="databases")
        for one in (page, other):
            await one.wait_until("document.getElementById('database')?.options.length === 2", "the databases")
        await rows(page)
        await values(page)
        await sql(page, other)
        await hostile(page)
        origin = "/".join(reader.split("/")[:3])
        for one in (page, other):
            expect(not one.complaints, f"{one.name} complains: {one.complaints}")
            foreign = [url for url in one.requests if url.split("://")[-1].split("/")[0] != origin.split("://")[-1]
                       and not url.startswith(("data:", "blob:", "about:"))]
            expect(not foreign, f"{one.name} asks others: {foreign}")
        ok("no complaint of the browser, and no request to elsewhere")


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
