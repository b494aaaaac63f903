# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Opens an HTTP archive in the network panel of Chromium's developer tools, and prints what that has then.

One line for each entry: method, URL, status, type, and how many messages were sent and received.
"""

import asyncio
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import Page, browser, run  # noqa: E402

FRONT_END = "devtools://devtools/bundled"
SCRIPT = """(async () => {
    const [network, legacy, logs] = await Promise.all(["panels/network/network.js", "ui/legacy/legacy.js", "models/logs/logs.js"]
        .map((name) => import(`%s/${name}`)));
    await legacy.ViewManager.ViewManager.instance().showView("network");
    await network.NetworkPanel.NetworkPanel.instance().networkLogView.onLoadFromFile(new File([%s], "a.har"));
    const count = (request, type) => request.frames().filter((frame) => frame.type === type).length;
    return logs.NetworkLog.NetworkLog.instance().requests().map((request) => [request.requestMethod, request.url(),
        request.statusCode, request.resourceType().name(), count(request, "send"), count(request, "receive")].join(" "));
})()"""


async def check():
    archive = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    async with browser(30) as tools:
        target = await tools.call("Target.createTarget", url=f"{FRONT_END}/devtools_app.html?panel=network", newWindow=True)
        attached = await tools.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        page = Page(tools, attached["sessionId"], "developer tools")
        await page.call("Runtime.enable")
        await page.wait_until("document.readyState === 'complete' && document.querySelector('.root-view') !== null", "its window")
        for line in await page.evaluate(SCRIPT % (FRONT_END, json.dumps(archive))):
            print(line)


if __name__ == "__main__":
    sys.exit(run(check()))
