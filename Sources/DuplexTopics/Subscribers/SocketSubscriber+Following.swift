// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets

extension SocketSubscriber: SocketFollower {
    // The first subscription of a connection stands for all of them, so that one costs no more than itself.

    /// About how many bytes one subscription sends before the next one has its turn.
    private static let share = 16_384

    /// Gives each subscription that is behind its turn, until there is no more room; the one that would be next begins then.
    func drained(_ socket: isolated WebSocket) {
        var waiting = all.filter { $0.pending == nil && ($0.backlog != nil || $0.isReplaying) }
        var turn = 0
        while !waiting.isEmpty, socket.takesMore {
            waiting[turn].catchUp(socket, waiting.count == 1 ? .max : Self.share)
            turn += 1
            if turn == waiting.count {
                waiting.removeAll { !$0.isBehind }
                turn = 0
            }
        }
        if turn < waiting.count { waiting[turn].goFirst(socket) }
    }

    var droppedMessages: Int { all.reduce(0) { $0 + $1.dropped } }

    /// Puts it in front of those of its connection; who was in front of it follows at the end.
    private func goFirst(_ socket: isolated WebSocket) {
        let order = socket.firstSubscriber?.all ?? []
        guard let place = order.firstIndex(where: { $0 === self }), place > 0 else { return }
        order[place - 1].next = nil
        order[order.count - 1].next = order[0]
        socket.firstSubscriber = self
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
            subscriber.next = socket.firstSubscriber
            socket.firstSubscriber = subscriber
        }
    }

    /// Takes it out of those of its connection.
    func unlink(from socket: WebSocket) {
        socket.onLoop(socket.loop, self) { socket, left in
            guard let first = socket.firstSubscriber else { return }
            if first === left {
                socket.firstSubscriber = left.next
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
