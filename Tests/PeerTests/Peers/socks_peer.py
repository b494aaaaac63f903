# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""A SOCKS proxy of versions 4, 4a and 5: asyncssh forwards to a server of SSH in this process, which connects.

Prints the port of the proxy, and runs until it is ended."""

import asyncio

import asyncssh


class Server(asyncssh.SSHServer):
    def begin_auth(self, username):
        return False

    def connection_requested(self, dest_host, dest_port, orig_host, orig_port):
        return True


async def main():
    key = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.listen("127.0.0.1", 0, server_host_keys=[key], server_factory=Server)
    port = server.sockets[0].getsockname()[1]
    async with asyncssh.connect("127.0.0.1", port, known_hosts=None, username="mia", client_keys=None, config=None) as client:
        listener = await client.forward_socks("127.0.0.1", 0)
        print(listener.get_port(), flush=True)
        await asyncio.Event().wait()


asyncio.run(main())
