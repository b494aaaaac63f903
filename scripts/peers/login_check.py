#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Has Chromium load two pages for which it needs a name and a password, and plays the user who is asked for them.

    login_check.py http://localhost:8080/ USER PASSWORD [--deadline SECONDS]

Prints what the user was asked, each time, and the texts of the pages. Needs what devtools.py needs.
"""

import argparse
import asyncio
import sys

from devtools import CheckFailed, Page, browser
from websockets.exceptions import WebSocketException


class Login(Page):
    """A tab whose questions for a password are answered."""

    def __init__(self, tools, session, user, password):
        super().__init__(tools, session, "page")
        self.user = user
        self.password = password
        self.answers = set()

    def noticed(self, event, details):
        super().noticed(event, details)
        if event == "Fetch.requestPaused":
            self.answer("Fetch.continueRequest", requestId=details["requestId"])
        elif event == "Fetch.authRequired":
            challenge = details["authChallenge"]
            print(f"asked for {challenge['realm']} by {challenge['scheme']}")
            answer = {"response": "ProvideCredentials", "username": self.user, "password": self.password}
            self.answer("Fetch.continueWithAuth", requestId=details["requestId"], authChallengeResponse=answer)

    def answer(self, method, **parameters):
        call = asyncio.create_task(self.call(method, **parameters))
        self.answers.add(call)
        call.add_done_callback(self.answers.discard)


async def check(options):
    async with browser(options.deadline) as tools:
        target = await tools.call("Target.createTarget", url="about:blank", newWindow=True)
        attached = await tools.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        page = Login(tools, attached["sessionId"], options.user, options.password)
        # Pages only: a browser also asks for an icon, which is another request with the nonce.
        patterns = [{"urlPattern": "*", "resourceType": "Document"}]
        await page.call("Fetch.enable", handleAuthRequests=True, patterns=patterns)
        for name in ("a", "b"):
            await page.load(options.url + name)
            print(await page.evaluate("document.body.innerText"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("url")
    parser.add_argument("user")
    parser.add_argument("password")
    parser.add_argument("--deadline", type=float, default=20)
    options = parser.parse_args()
    try:
        asyncio.run(check(options))
    except (CheckFailed, WebSocketException, TimeoutError) as failure:
        sys.exit(f"failed: {failure!r}")


main()
