// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("Changes are told from what was there before")
struct NetworkTrackerTests {
    private let four: [UInt8] = [192, 0, 2, 1]
    private let local: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
    private var address: SocketAddress { .ip(four, port: 0) }

    private func said(_ content: NetlinkMessage.Content) -> NetlinkMessage {
        NetlinkMessage(sequence: 0, content: content)
    }

    private func answered(
        _ sequence: UInt32,
        _ content: NetlinkMessage.Content,
        isInterrupted: Bool = false
    ) -> NetlinkMessage {
        NetlinkMessage(sequence: sequence, isInterrupted: isInterrupted, content: content)
    }

    private func link(_ index: UInt32 = 1, _ name: String = "a", isUp: Bool = true) -> NetlinkMessage.Content {
        .link(index: index, name: name, isUp: isUp)
    }

    private func usable(_ isUsable: Bool = true) -> NetlinkMessage.Content {
        .address(index: 1, bytes: four, isUsable: isUsable)
    }

    /// One that has listed an interface with an address.
    private func ready() -> NetworkTracker {
        var tracker = NetworkTracker()
        #expect(tracker.begin() == .links(1))
        #expect(tracker.take(answered(1, link())) == .init())
        #expect(tracker.take(answered(1, .done)) == .init(request: .addresses(2)))
        #expect(tracker.take(answered(2, usable())) == .init())
        #expect(tracker.take(answered(2, .done)) == .init())
        return tracker
    }

    @Test("What is there at the beginning is no change, and what the kernel says again isn't either")
    func beginning() {
        var tracker = ready()
        #expect(tracker.take(said(link())) == .init())
        #expect(tracker.take(said(usable())) == .init())
    }

    @Test("Down, up, gone and renamed")
    func links() {
        var tracker = ready()
        #expect(tracker.take(said(link(isUp: false))).changes == [.interfaceDown("a")])
        #expect(tracker.take(said(link(isUp: false))).changes == [])
        #expect(tracker.take(said(link())).changes == [.interfaceUp("a")])
        #expect(tracker.take(said(link(1, "b"))).changes == [.interfaceDown("a"), .interfaceUp("b")])
        #expect(tracker.take(said(link(2, "c", isUp: false))).changes == [.interfaceDown("c")])
        #expect(
            tracker.take(said(.linkGone(index: 1))).changes
                == [.addressRemoved(address, interface: "b"), .interfaceDown("b")]
        )
        #expect(tracker.take(said(.linkGone(index: 1))).changes == [])
        #expect(tracker.take(said(.linkGone(index: 2))).changes == [])
    }

    @Test("Addresses come when they may be used, and go when they are gone or found to be somebody's")
    func addresses() {
        var tracker = ready()
        #expect(
            tracker.take(said(.addressGone(index: 1, bytes: four))).changes
                == [.addressRemoved(address, interface: "a")]
        )
        #expect(tracker.take(said(.addressGone(index: 1, bytes: four))).changes == [])
        #expect(tracker.take(said(usable(false))).changes == [])
        #expect(tracker.take(said(usable())).changes == [.addressAdded(address, interface: "a")])
        #expect(tracker.take(said(usable(false))).changes == [.addressRemoved(address, interface: "a")])
        let changes = tracker.take(said(.address(index: 1, bytes: local, isUsable: true))).changes
        #expect(changes == [.addressAdded(.ip(local, port: 0, scope: 1), interface: "a")])
        #expect(tracker.take(said(.route)).changes == [.routeChanged])
    }

    @Test("What the kernel says of its own accord counts while the first list is made")
    func early() {
        var tracker = NetworkTracker()
        _ = tracker.begin()
        #expect(tracker.take(said(link(isUp: false))).changes == [.interfaceDown("a")])
        #expect(tracker.take(answered(1, link(isUp: false))).changes == [])
        #expect(tracker.take(said(link())).changes == [.interfaceUp("a")])
    }

    @Test("What is said of addresses before their interface is listed is told with its name, behind the list of them")
    func earlyAddresses() {
        for failure in [nil, NetlinkMessage.Content.failed(16)] {
            var tracker = NetworkTracker()
            _ = tracker.begin()
            #expect(tracker.take(said(usable())) == .init())
            #expect(tracker.take(said(.addressGone(index: 1, bytes: local))) == .init())
            #expect(tracker.take(answered(1, link())) == .init())
            let output = tracker.take(answered(1, failure ?? .done))
            let gone = NetworkChange.addressRemoved(.ip(local, port: 0, scope: 1), interface: "a")
            #expect(output.changes == [.addressAdded(address, interface: "a"), gone])
            #expect(output.request == (failure == nil ? .addresses(2) : nil))
            // Once.
            #expect(tracker.take(answered(2, usable())) == .init())
            #expect(tracker.take(answered(2, .done)) == .init())
        }
    }

    @Test("What is said of an address behind others that wait for the list waits as well")
    func earlyOrder() {
        var tracker = NetworkTracker()
        _ = tracker.begin()
        #expect(tracker.take(said(usable())) == .init())
        #expect(tracker.take(answered(1, link())) == .init())
        #expect(tracker.take(said(.addressGone(index: 1, bytes: four))) == .init())
        let added = NetworkChange.addressAdded(address, interface: "a")
        let expected = [added, .addressRemoved(address, interface: "a")]
        #expect(tracker.take(answered(1, .done)).changes == expected)
        #expect(tracker.take(answered(2, .done)) == .init())
        #expect(tracker.take(said(usable())).changes == [added])
    }

    @Test("An address that the first list has is reported if the kernel says after it that it is new, once")
    func lateNews() {
        let new = said(.address(index: 1, bytes: four, isUsable: true, isUnchanged: true))
        let added = NetworkChange.addressAdded(address, interface: "a")
        var tracker = ready()
        #expect(tracker.take(new).changes == [added])
        #expect(tracker.take(new) == .init())
        // Long after the list it is one that takes the place of another.
        tracker = ready()
        tracker.settle()
        #expect(tracker.take(new) == .init())
        // Within the list, too.
        tracker = NetworkTracker()
        _ = tracker.begin()
        _ = tracker.take(answered(1, link()))
        _ = tracker.take(answered(1, .done))
        #expect(tracker.take(answered(2, new.content)) == .init())
        #expect(tracker.take(new).changes == [added])
        #expect(tracker.take(answered(2, .done)) == .init())
        // One that was reported already is not new again.
        tracker = NetworkTracker()
        _ = tracker.begin()
        _ = tracker.take(answered(1, link()))
        #expect(tracker.take(new).changes == [added])
        _ = tracker.take(answered(1, .done))
        _ = tracker.take(answered(2, usable()))
        #expect(tracker.take(new) == .init())
    }

    @Test("An address that goes before the list comes to it was there")
    func earlyRemoval() {
        var tracker = NetworkTracker()
        _ = tracker.begin()
        _ = tracker.take(answered(1, link()))
        _ = tracker.take(answered(1, .done))
        let changes = tracker.take(said(.addressGone(index: 1, bytes: four))).changes
        #expect(changes == [.addressRemoved(address, interface: "a")])
        #expect(tracker.take(answered(2, .done)) == .init())
        #expect(tracker.take(said(.addressGone(index: 1, bytes: four))).changes == [])
    }

    @Test("No more is kept for the list than a bound; what is beyond has it made again")
    func earlyBound() {
        var tracker = NetworkTracker()
        _ = tracker.begin()
        for _ in 0..<256 { #expect(tracker.take(said(usable())) == .init()) }
        #expect(tracker.take(said(usable())).changes == [.missed])
        #expect(tracker.take(answered(1, .done)).request == .links(2))
        _ = tracker.take(answered(2, link()))
        #expect(tracker.take(answered(2, .done)).changes == [.addressAdded(address, interface: "a")])
    }

    @Test("When messages were lost, all is listed again, and what differs is told")
    func overrun() {
        var tracker = ready()
        #expect(tracker.overrun() == .init(changes: [.missed], request: .links(3)))
        // The interface has gone, and another has come.
        #expect(tracker.take(answered(3, link(2, "b"))).changes == [.interfaceUp("b")])
        let links = tracker.take(answered(3, .done))
        #expect(
            links
                == .init(
                    changes: [.addressRemoved(address, interface: "a"), .interfaceDown("a")],
                    request: .addresses(4)
                )
        )
        #expect(tracker.take(answered(4, .done)) == .init())
    }

    @Test("An address that isn't listed any more is gone, unless the list was made while something changed")
    func lostAddress() {
        for isInterrupted in [false, true] {
            var tracker = ready()
            _ = tracker.take(said(.overrun))
            _ = tracker.take(answered(3, link(), isInterrupted: isInterrupted))
            _ = tracker.take(answered(3, .done))
            let changes = tracker.take(answered(4, .done)).changes
            #expect(changes == (isInterrupted ? [] : [.addressRemoved(address, interface: "a")]))
        }
    }

    @Test("What is lost while a list is made has another made, behind it")
    func overrunWhileListing() {
        var tracker = ready()
        _ = tracker.overrun()
        #expect(tracker.overrun() == .init(changes: [.missed]))
        #expect(tracker.take(answered(3, link())) == .init())
        #expect(tracker.take(answered(3, .done)).request == .links(4))
        // Of the list before nothing counts any more.
        #expect(tracker.take(answered(3, link(9, "z"))) == .init())
    }

    @Test("What went down and came up while messages were lost is told as missed, and is followed from there")
    func downAndUpInOne() {
        var tracker = ready()
        #expect(tracker.overrun().changes == [.missed])
        #expect(tracker.take(answered(3, link())).changes == [])
        _ = tracker.take(answered(3, .done))
        _ = tracker.take(answered(4, usable()))
        _ = tracker.take(answered(4, .done))
        #expect(tracker.take(said(link(isUp: false))).changes == [.interfaceDown("a")])
    }

    @Test("Where a list can't be asked for, the next loss has it asked for again")
    func notAsked() {
        var tracker = ready()
        _ = tracker.overrun()
        _ = tracker.overrun()
        #expect(tracker.take(said(.address(index: 9, bytes: four, isUsable: true))) == .init())
        #expect(tracker.notAsked() == [.addressAdded(address, interface: "#9")])
        #expect(tracker.notAsked() == [])
        #expect(tracker.overrun().request == .links(4))
        #expect(tracker.take(answered(4, link(isUp: false))).changes == [.interfaceDown("a")])
        #expect(tracker.take(answered(4, .done)).request == .addresses(5))
    }

    @Test("A list that is refused leaves what the kernel says of its own accord")
    func refused() {
        var tracker = NetworkTracker()
        _ = tracker.begin()
        #expect(tracker.take(answered(1, .failed(16))) == .init())
        #expect(tracker.take(said(link())).changes == [.interfaceUp("a")])
        #expect(tracker.overrun().request == .links(2))
    }
}
