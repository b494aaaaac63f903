// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets

extension SocketSubscriber: SocketFollower {
    // The first subscription of a connection stands for all of them, so that one costs no more than itself.

    func drained(_ socket: isolated WebSocket) {
        for subscriber in all { subscriber.catchUp(socket) }
    }

    func ended() {
        for subscriber in all {
            subscriber.leave()
            subscriber.next = nil
        }
    }

    /// Puts it in front of the others of its connection.
    func link(to socket: WebSocket) {
        socket.onLoop(socket.loop, self) { socket, subscriber in
            subscriber.next = socket.follower as? SocketSubscriber
            socket.follower = subscriber
        }
    }

    /// Takes it out of those of its connection.
    func unlink(from socket: WebSocket) {
        socket.onLoop(socket.loop, self) { socket, left in
            guard let first = socket.follower as? SocketSubscriber else { return }
            if first === left {
                socket.follower = left.next
            } else {
                first.all.first { $0.next === left }?.next = left.next
            }
            left.next = nil
        }
    }

    /// This one and those behind it.
    var all: [SocketSubscriber] {
        var found: [SocketSubscriber] = []
        var next: SocketSubscriber? = self
        while let subscriber = next {
            found.append(subscriber)
            next = subscriber.next
        }
        return found
    }
}
