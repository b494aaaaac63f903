// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire

// The same from a task, as most programs use a connection.

extension BenchConnection {
    /// Sends the first messages; here, since the task behind it may get its thread when the run is over.
    func begin(on socket: isolated WebSocket) async {
        do {
            let stage = began(on: socket.loop)
            while let message = next(stage) { try await socket.send(message) }
        } catch {
            lost("\(error)")
        }
    }

    /// Keeps the messages in flight over a connection until its part has ended.
    func run(on socket: isolated WebSocket) async {
        do {
            for try await message in socket.messages {
                guard let stage = received(message) else { return }
                while let message = next(stage) { try await socket.send(message) }
            }
            lost("\(socket.closeReport)")
        } catch {
            lost("\(error)")
        }
    }

    /// Sends the first messages of an endless connection.
    func begin(on client: isolated ReconnectingWebSocket) async {
        do {
            let stage = began(on: client.loop)
            while let message = next(stage) { try await client.send(message) }
        } catch {
            lost("\(error)")
        }
    }

    /// Keeps the messages in flight over an endless connection until its part has ended.
    func run(on client: isolated ReconnectingWebSocket) async {
        do {
            for try await message in client.messages {
                guard let stage = received(message) else { return }
                while let message = next(stage) { try await client.send(message) }
            }
            lost("\(client.phase)")
        } catch {
            lost("\(error)")
        }
    }
}
