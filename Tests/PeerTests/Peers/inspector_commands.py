# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium on the inspector's page of commands and messages.

    inspector_commands.py URL

Prints "ok" lines and exits 0, or what failed and exits 1.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import browser, run  # noqa: E402
from inspector_page import InspectorPage, expect, ok, open_inspector  # noqa: E402

MACHINE = "document.querySelector('main.part-machine > :not(h2)')"


def form(name):
    return f"document.querySelector('form[data-command={json.dumps(name)}]')"


class CommandsPage(InspectorPage):
    async def run(self, name):
        """Runs a command by its button, and waits for its run: the first of the list."""
        before = await self.evaluate("document.querySelector('.run')?.dataset.run ?? ''")
        await self.click(f"{form(name)}.querySelector('[type=submit]')")
        await self.wait_until(f"(document.querySelector('.run')?.dataset.run ?? '') !== '{before}'", f"a run of {name}")

    async def first(self, state):
        await self.wait_until(f"document.querySelector('.run .badge')?.textContent === '{state}'", f"a run that is {state}")


async def late(page):
    """A part whose answer comes late isn't shown beside the one that was chosen meanwhile."""
    await page.evaluate("""window.answers = window.fetch;
    window.late = new Promise((resolve) => window.letThrough = resolve);
    window.fetch = async (url, options) => {
        const answer = await window.answers(url, options);
        if (!String(url).endsWith("/commands")) return answer;
        const body = await answer.text();
        window.isHeld = true;
        await window.late;
        return new Response(body, answer);
    }; undefined""")
    await page.go("commands")
    await page.until("window.isHeld", "an answer that is held")
    await page.part("machine", MACHINE)
    await page.evaluate("window.letThrough(); window.fetch = window.answers; window.fetch('state').then((answer) => answer.text())")
    expect(await page.count("main") == 1 and await page.count("main form") == 0, "the late part is shown beside the chosen one")
    await page.part("commands", form("Reindex"))
    expect(await page.count("main h2") == 1 and await page.count(".commands-layout") == 1, "two parts at once")
    ok("a part whose answer comes late isn't shown any more")


async def check(url):
    async with browser(60) as tools:
        page = await open_inspector(tools, url, "commands", CommandsPage)
        await page.part("commands", form("Reindex"))
        fields = await page.evaluate(f"[...{form('Reindex')}.querySelectorAll('label')].map((one) => one.textContent)")
        expect(fields == ["folder", "depth", "mode", "dry", "token (optional)"], f"another form: {fields}")
        ok("a form by the types of the arguments")

        field = f"{form('Reindex')}.querySelector('input[type=text]')"
        await page.fill(field, "/photos")
        await page.fill(f"{form('Reindex')}.querySelector('input[type=number]')", "5")
        await page.evaluate(f"{form('Reindex')}.querySelectorAll('select')[0].value = 'whole'")
        await page.evaluate(f"{form('Reindex')}.querySelectorAll('select')[1].value = 'true'")
        await page.fill(f"{form('Reindex')}.querySelector('input[type=password]')", "hush")
        await page.run("Reindex")
        await page.says(".run pre", "/photos 5 whole true")
        expect("hush" not in await page.evaluate("document.querySelector('main').textContent"), "a secret is shown")
        ok("a command with all its arguments, a secret one masked")

        wish = {"command": "Reindex", "arguments": {"depth": "99"}}
        answer = await page.evaluate(f"""fetch('commands/run', {{ method: 'POST', headers: {{ 'content-type': 'application/json',
            accept: 'application/json' }}, body: JSON.stringify({json.dumps(wish)}) }}).then((one) => one.json())""")
        expect(answer["status"] == 400 and "depth" in answer["detail"], f"a number out of its range is taken: {answer}")
        ok("an argument out of its range is refused by the app's side, too")

        await page.run("Table")
        await page.wait_until("document.querySelectorAll('.run:first-child table tbody tr').length === 2", "the table")
        expect(await page.evaluate("document.querySelector('.run td').textContent") == "<i>a</i>", "a cell became markup")
        ok("a table")

        await page.run("Fails")
        await page.first("failed")
        await page.says(".run .fault", "The disk is full.")
        ok("a failure, and why")

        await page.run("Waits")
        await page.run("Waits")
        await page.wait_until("[...document.querySelectorAll('.run .badge')].filter((one) => one.textContent === 'running')"
                              ".length === 2", "two that run at once")
        await page.click("[...document.querySelectorAll('.run')][1].querySelector('[aria-label^=Stop]')")
        await page.click("document.querySelector('.run [aria-label^=Stop]')")
        await page.wait_until("[...document.querySelectorAll('.run .badge')].filter((one) => one.textContent === 'stopped')"
                              ".length === 2", "two that were stopped")
        ok("several at once, and stopping them")

        await page.fill("message-text", "value")
        await page.press("Enter", "Control")
        await page.says(".run pre.json", '"echo": "value"')
        ok("a message by the keyboard, and its answer as JSON")

        await page.part("machine", MACHINE)
        await late(page)
        await page.wait_until("document.querySelector('.run')", "what has run")

        await page.all_is_named()
        await page.look_at("commands")
        await page.click("document.querySelector('.history .tools button')")
        await page.wait_until("document.querySelectorAll('.run').length === 0", "an empty list")
        page.is_clean(url)
        ok("names for all controls, three windows, no complaint, and what has run forgotten")


if __name__ == "__main__":
    sys.exit(run(check(sys.argv[1])))
