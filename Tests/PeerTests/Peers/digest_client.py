# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Makes three requests with Digest by a library, and prints what comes back.

    digest_client.py LIBRARY URL USER PASSWORD

LIBRARY is requests, httpx or aiohttp.
"""

import asyncio
import sys

# Method, path, query and body.
REQUESTS = [("GET", "/a", None, None), ("GET", "/b", {"c": "d e"}, None), ("POST", "/body", None, b"x" * 1000)]


def play_requests(url, user, password):
    import requests
    with requests.Session() as session:
        # No proxy and no .netrc of the machine's.
        session.trust_env = False
        session.auth = requests.auth.HTTPDigestAuth(user, password)
        for method, path, query, body in REQUESTS:
            answer = session.request(method, url + path, params=query, data=body)
            yield answer.status_code, answer.text


def play_httpx(url, user, password):
    import httpx
    with httpx.Client(auth=httpx.DigestAuth(user, password), trust_env=False) as client:
        for method, path, query, body in REQUESTS:
            answer = client.request(method, url + path, params=query, content=body)
            yield answer.status_code, answer.text


def play_aiohttp(url, user, password):
    import aiohttp

    async def play():
        digest = aiohttp.DigestAuthMiddleware(login=user, password=password)
        async with aiohttp.ClientSession(middlewares=(digest,)) as session:
            answers = []
            for method, path, query, body in REQUESTS:
                async with session.request(method, url + path, params=query, data=body) as answer:
                    answers.append((answer.status, await answer.text()))
            return answers

    return asyncio.run(play())


LIBRARIES = {"requests": play_requests, "httpx": play_httpx, "aiohttp": play_aiohttp}
for status, text in LIBRARIES[sys.argv[1]](*sys.argv[2:]):
    print(status, text.split("\n")[0])
