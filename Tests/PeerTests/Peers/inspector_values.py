# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium on the inspector's page of values.

    inspector_values.py URL

Prints "ok" lines and exits 0, or what failed and exits 1.
"""

import asyncio
import json
import pathlib
import sys
import urllib.request
from urllib.parse import urlsplit

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import browser, limit, run  # noqa: E402
from inspector_page import InspectorPage, expect, ok, open_inspector  # noqa: E402


def row(name):
    return f"document.querySelector('tr[data-name={json.dumps(name)}]')"


class ValuesPage(InspectorPage):
    async def value_is(self, name, text):
        look = f"{row(name)}?.querySelector('pre')?.textContent === {json.dumps(text)}"
        await self.wait_until(look, f"{name} to be {text!r}")

    async def edit(self, name):
        await self.click(f"{row(name)}.querySelector('.actions button')")
        await self.wait_until(f"{row(name)}.querySelector('form')", f"the form of {name}")

    async def save(self, name, text):
        """Writes into the field, and saves by the button."""
        await self.fill(f"{row(name)}.querySelector('form').querySelector('input, textarea')", text)
        await self.click(f"{row(name)}.querySelector('[type=submit]')")

    async def choose(self, name, value):
        await self.evaluate(f"{row(name)}.querySelector('select').value = {json.dumps(value)}")
        await self.click(f"{row(name)}.querySelector('[type=submit]')")


def post(url, path):
    parts = urlsplit(url)
    request = urllib.request.Request(f"{parts.scheme}://{parts.netloc}{path}", method="POST")
    urllib.request.urlopen(request, timeout=limit(20)).close()


async def check(url):
    async with browser(60) as tools:
        page = await open_inspector(tools, url, "values", ValuesPage)
        await page.part("values", row("Note"))
        await page.value_is("Note", "first")
        expect(await page.count("#values-list section") == 5, "there are other groups")
        expect("Environment" in await page.text("values-list"), "the environment isn't there")
        names = await page.evaluate("[...document.querySelectorAll('th[scope=row]')].map((one) => one.textContent)")
        expect("Fixed <b>value</b>" in names, "a name isn't shown as what it is")
        expect(await page.evaluate("!document.querySelector('main b')"), "a name became markup")
        await page.value_is("Fixed <b>value</b>", "a⟨U+202E⟩b")
        ok("groups of values, with what can't be seen made visible")

        await page.value_is("API token", "••••••")
        await page.value_is("password", "••••••")
        state = await page.evaluate("fetch('values').then((one) => one.text())")
        expect("hush" not in state and '"abc"' not in state, "a secret has left the app")
        ok("secrets are masked, and never leave the app")

        await page.edit("Retry limit")
        await page.save("Retry limit", "9")
        await page.value_is("Retry limit", "9")
        await page.edit("Pause")
        await page.write("0.25")
        await page.press("Enter")
        await page.value_is("Pause", "0.25")
        ok("numbers, by the button and by the key")

        await page.edit("Level")
        await page.choose("Level", "loud")
        await page.value_is("Level", "loud")
        await page.edit("On")
        await page.choose("On", "true")
        await page.value_is("On", "true")
        ok("one of several, and yes or no")

        await page.edit("Plan")
        await page.save("Plan", '{"b": "no"}')
        await page.says(f"tr[data-name='Plan'] .fault", "That is no such value")
        await page.save("Plan", '{"b": [3]}')
        await page.wait_until(f"{row('Plan')}.querySelector('pre')?.textContent.includes('\"b\"')", "the new plan")
        await page.edit("Plan")
        await page.press("Escape")
        await page.wait_until(f"!{row('Plan')}.querySelector('form')", "the end of the form")
        ok("JSON, refused where it is no such value; Escape leaves")

        await page.edit("Note")
        await asyncio.to_thread(post, url, "/note/theirs")
        await page.says("tr[data-name='Note'] .fault", "It has changed meanwhile, and is “theirs” now")
        await page.save("Note", "mine")
        await page.value_is("Note", "mine")
        await asyncio.to_thread(post, url, "/note/again")
        await page.value_is("Note", "again")
        # The page isn't told in between: it says what it has been shown.
        body = {"group": "App", "name": "Note", "text": "blind", "version": "0"}
        status = await page.evaluate(f"""fetch('values/set', {{ method: 'POST', headers: {{ 'content-type': 'application/json' }},
            body: JSON.stringify({json.dumps(body)}) }}).then((one) => one.status)""")
        expect(status == 409, f"what has changed is overwritten: {status}")
        await page.edit("Note")
        await page.save("Note", "mine")
        await page.value_is("Note", "mine")
        ok("what has changed meanwhile is told, and not overwritten blindly")

        await page.edit("count")
        await page.save("count", "8")
        await page.value_is("count", "8")
        await page.click(f"{row('colour')}.querySelector('.danger')")
        await page.toasted("colour is removed")
        await page.wait_until(f"!{row('colour')}", "the end of the setting")
        ok("settings are set and removed")

        await page.fill("values-search", "retry")
        await page.wait_until("document.querySelectorAll('tr[data-name]').length === 1", "one found row")
        await page.fill("values-search", "")
        await page.wait_until(row("Note"), "all rows")
        ok("a search")

        await page.all_is_named()
        await page.look_at("values")
        page.is_clean(url)
        ok("names for all controls, three windows, and no complaint")


if __name__ == "__main__":
    sys.exit(run(check(sys.argv[1])))
