# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium on the inspector's page of the machine.

    web_inspector_machine.py URL

URL is the inspector's with its token; the server answers /produce beside it. The variable SCREENSHOTS may name a folder to
write to. Prints "ok" lines and exits 0, or what failed and exits 1.
"""

import sys

from inspector_page import check_part, expect, ok

from devtools import run


async def looked(tab, times):
    """Waits for so many looks since the page was opened."""
    await tab.wait_until(f"Number(document.getElementById('main').dataset.looks) >= {times}", f"{times} looks")


async def body(tab, _):
    await looked(tab, 3)
    for name in ("cpu", "memory", "allocator", "descriptors", "threads", "delay"):
        text = await tab.text(f"machine-{name}")
        expect(any(one.isdigit() for one in text), f"{name} is {text!r}")
    expect(await tab.evaluate("document.querySelectorAll('.tile polyline[points*=\" \"]').length") >= 5, "no lines are drawn")
    ok("the numbers of the process are there, and their last minute")

    await tab.produce("busy")
    await tab.wait_until("parseFloat(document.getElementById('machine-cpu').textContent) > 5", "work")
    ok("work shows as use of a processor")

    await tab.produce("block")
    longest = "[...document.querySelectorAll('section[aria-label=\"Event loops\"] tbody tr')]" \
              ".map((row) => row.children[4].textContent)"
    await tab.wait_until(f"{longest}.some((text) => /^([3-9]\\d\\d ms|[\\d.]+ s)$/.test(text))", "a loop that was held up")
    expect(await tab.evaluate("document.querySelector('.columns rect[height]') !== null"), "no columns are drawn")
    ok("a loop that was held up shows its delay")

    threads = "document.querySelector('section[aria-label=\"Threads\"] tbody').innerText"
    expect("duplex-loop" in await tab.evaluate(threads), "the loops' threads aren't there")
    network = await tab.evaluate("document.querySelector('section[aria-label=\"Network\"]').innerText")
    # Whether something has changed is for other tests to say, which make networks meanwhile.
    expect("127.0.0.1" in network, f"the network is {network!r}")
    facts = await tab.evaluate("document.querySelector('.halves .facts').innerText")
    for part in ("Process", "Host", "Kernel", "Linux", "Processors"):
        expect(part in facts, f"{part!r} isn't in {facts!r}")
    ok("threads, interfaces and the machine are listed")

    kinds = await tab.text("machine-kinds")
    expect("socket" in kinds and "eventpoll" in kinds, f"the kinds are {kinds!r}")
    await tab.click("machine-list")
    await tab.wait_until("document.querySelector('#machine-listing tbody tr')", "the list of descriptors")
    await tab.fill("machine-find", "eventpoll")
    rows = "[...document.querySelectorAll('#machine-listing tbody tr')].map((row) => row.children[1].textContent)"
    await tab.wait_until(f"{rows}.length > 0 && {rows}.every((kind) => kind === 'eventpoll')", "those of one kind")
    ok("descriptors are counted by kind, listed and filtered")

    await tab.fits("machine")
    await tab.evaluate("location.hash = '#console'")
    await tab.wait_until("document.querySelector('main.part-console')", "another part")
    await tab.part("machine", "document.querySelector('main.part-machine')")
    await looked(tab, 1)
    ok("it can be left and opened again")


async def check(url):
    await check_part(url, "machine", body)


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
