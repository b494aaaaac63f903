// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexSockets

@Suite("Those who are told of changes")
struct NetworkListenersTests {
    private final class Recorder: NetworkListener {
        let told = Mutex<[NetworkChange]>([])
        let ends = Mutex<[SocketError.Code?]>([])

        func changed(_ changes: [NetworkChange]) { told.withLock { $0 += changes } }
        func ended(_ error: SocketError?) { ends.withLock { $0.append(error?.code) } }
    }

    @Test("Each hears everything from when it was added to the end, which comes once")
    func telling() {
        let listeners = NetworkListeners()
        let (early, late, after) = (Recorder(), Recorder(), Recorder())
        listeners.add(early)
        listeners.tell([.routeChanged])
        listeners.add(late)
        listeners.tell([.missed, .routeChanged])
        listeners.tell([])
        for _ in 0..<2 { listeners.end(SocketError(.loopStopped, message: "")) }
        listeners.tell([.missed])
        listeners.add(after)
        #expect(early.told.withLock { $0 } == [.routeChanged, .missed, .routeChanged])
        #expect(late.told.withLock { $0 } == [.missed, .routeChanged])
        for listener in [early, late, after] { #expect(listener.ends.withLock { $0 } == [.loopStopped]) }
    }

    @Test("Those on whom others build are told first")
    func order() {
        final class Ordered: NetworkListener {
            let isFirst: Bool
            let order: Recorder
            init(_ isFirst: Bool, _ order: Recorder) { (self.isFirst, self.order) = (isFirst, order) }
            func changed(_ changes: [NetworkChange]) { order.changed([isFirst ? .missed : .routeChanged]) }
            func ended(_ error: SocketError?) {}
        }
        let order = Recorder()
        let listeners = NetworkListeners()
        let all = (0..<10).map { Ordered($0 % 3 == 0, order) }
        for listener in all { listeners.add(listener) }
        listeners.tell([.routeChanged])
        let expected: [NetworkChange] = (0..<10).map { $0 < 4 ? .missed : .routeChanged }
        #expect(order.told.withLock { $0 } == expected)
        withExtendedLifetime(all) {}
    }

    @Test("Nobody is kept alive by listening, and who has gone leaves its place")
    func weakness() {
        let listeners = NetworkListeners()
        var recorder: Recorder? = Recorder()
        weak let kept = recorder
        if let recorder { listeners.add(recorder) }
        #expect(listeners.count == 1)
        recorder = nil
        #expect(kept == nil && listeners.count == 0)
        listeners.tell([.missed])
    }
}
