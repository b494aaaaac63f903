// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("Where a channel stands")
struct ChannelStateTests {
    /// What can happen to a channel.
    enum Event: Sendable, Hashable {
        case read(Bool)
        case endInput
        case finishWriting
        case sendFails
        case ownRecordsFail
        case missOutput
        case closeWhenSent
        case leave
        case allSent
        case close
    }

    /// The state that events lead to, one after the other.
    private static func state(_ events: [Event]) -> ChannelState {
        var state = ChannelState()
        for event in events { apply(event, to: &state) }
        return state
    }

    private static func apply(_ event: Event, to state: inout ChannelState) {
        switch event {
        case .read(let isWanted): _ = state.read(isWanted)
        case .endInput: state.endInput()
        case .finishWriting: _ = state.finishWriting()
        case .sendFails: state.sendFailed(104)
        case .ownRecordsFail:
            state.sendFailed(32)
            state.mute()
        case .missOutput: _ = state.missOutput()
        case .closeWhenSent: state.closeWhenSent()
        case .leave: state.leave()
        case .allSent: _ = state.allSent(isHandshaking: false)
        case .close: state.close()
        }
    }

    @Test("A new channel sends what is written, and takes nothing before it is asked to")
    func beginning() {
        let state = ChannelState()
        #expect(state.isOpen && state.canWrite && !state.endsOutput && state.sendFailure == nil)
        #expect(state.course == .owned && state.input == .paused && state.output == .open)
    }

    @Test(
        "What arrives is taken as the owner likes, until the peer ends its side or the channel ends by itself",
        arguments: [
            ([], ChannelState.Input.paused), ([.read(true)], .taken), ([.read(true), .read(false)], .paused),
            ([.read(true), .endInput], .ended), ([.endInput, .read(true)], .ended), ([.endInput, .leave], .ended),
            ([.leave], .taken), ([.leave, .read(false)], .taken), ([.read(true), .closeWhenSent], .paused),
            ([.closeWhenSent, .read(true)], .paused), ([.endInput, .closeWhenSent], .ended),
            ([.closeWhenSent, .leave], .taken),
        ] as [([Event], ChannelState.Input)]
    )
    func input(events: [Event], input: ChannelState.Input) {
        #expect(Self.state(events).input == input)
    }

    @Test(
        "What becomes of what is written",
        arguments: [
            ([.finishWriting], ChannelState.Output.finishing), ([.finishWriting, .allSent], .finished),
            ([.allSent], .open), ([.finishWriting, .allSent, .finishWriting], .finished),
            ([.sendFails], .failed(104)), ([.sendFails, .finishWriting], .failed(104)),
            ([.finishWriting, .sendFails, .allSent], .failed(104)),
            ([.sendFails, .ownRecordsFail], .muted(104)),
            ([.ownRecordsFail], .muted(32)), ([.ownRecordsFail, .missOutput], .failed(32)),
            ([.ownRecordsFail, .finishWriting], .failed(32)), ([.ownRecordsFail, .leave], .failed(32)),
            ([.ownRecordsFail, .sendFails], .muted(32)), ([.leave], .finishing), ([.leave, .allSent], .finished),
            ([.closeWhenSent], .open), ([.closeWhenSent, .ownRecordsFail], .failed(32)),
            ([.leave, .ownRecordsFail], .failed(32)), ([.ownRecordsFail, .closeWhenSent], .failed(32)),
        ] as [([Event], ChannelState.Output)]
    )
    func output(events: [Event], output: ChannelState.Output) {
        let state = Self.state(events)
        #expect(state.output == output)
        #expect(state.canWrite == (output == .open && state.course == .owned))
    }

    @Test(
        "What follows once all is sent",
        arguments: [
            ([], ChannelState.AllSent.sendMore), ([.finishWriting], .endStream),
            ([.finishWriting, .allSent], .nothing),
            ([.leave], .endStreamAndLinger), ([.leave, .allSent], .linger),
            ([.finishWriting, .allSent, .leave], .linger), ([.closeWhenSent], .close),
            ([.finishWriting, .allSent, .closeWhenSent], .close), ([.closeWhenSent, .leave], .close),
            ([.leave, .closeWhenSent], .close), ([.sendFails], .nothing), ([.leave, .sendFails], .nothing),
            ([.close], .nothing), ([.leave, .close], .nothing),
        ] as [([Event], ChannelState.AllSent)]
    )
    func allSent(events: [Event], step: ChannelState.AllSent) {
        var state = Self.state(events)
        #expect(state.allSent(isHandshaking: false) == step)
    }

    @Test("The end of the stream waits for a handshake, unless the channel is leaving")
    func handshaking() {
        var owned = Self.state([.finishWriting])
        #expect(owned.allSent(isHandshaking: true) == .nothing)
        #expect(owned.output == .finishing && owned.allSent(isHandshaking: false) == .endStream)
        var leaving = Self.state([.leave])
        #expect(leaving.allSent(isHandshaking: true) == .endStreamAndLinger)
    }

    @Test("The peer's end closes a channel that leaves and has sent all", arguments: [true, false])
    func peerEnds(isEmpty: Bool) {
        #expect(Self.state([.leave, .endInput]).closesAfterInput(isEmpty: isEmpty) == isEmpty)
        #expect(!Self.state([.read(true), .endInput]).closesAfterInput(isEmpty: isEmpty))
        #expect(!Self.state([.closeWhenSent, .endInput]).closesAfterInput(isEmpty: isEmpty))
    }

    @Test("Whoever hasn't sent all when the time is over resets the connection")
    func timedOut() {
        #expect(Self.state([.leave]).timedOut(isEmpty: true) == .close)
        #expect(Self.state([.leave]).timedOut(isEmpty: false) == .reset)
        #expect(Self.state([.closeWhenSent]).timedOut(isEmpty: true) == .reset)
        #expect(Self.state([.closeWhenSent]).timedOut(isEmpty: false) == .reset)
    }

    @Test("A secured channel that fails hears its peer to the end, so that the alert arrives")
    func forcedLeave() {
        var state = Self.state([.closeWhenSent])
        state.leave(isForced: true)
        #expect(state.course == .leaving && state.input == .taken && state.output == .finishing)
    }

    @Test(
        "A channel that has ended stays ended, whatever comes too late",
        arguments: [
            Event.read(true), .endInput, .finishWriting, .sendFails, .ownRecordsFail, .missOutput, .closeWhenSent,
            .leave, .allSent, .close,
        ]
    )
    func late(event: Event) {
        var state = Self.state([.read(true), .close])
        Self.apply(event, to: &state)
        #expect(!state.isOpen && !state.canWrite && state.sendFailure == nil)
        #expect(state.timedOut(isEmpty: true) == .reset)
    }

    @Test("Any events in any order keep to what a channel can be", arguments: UInt64(1)...50)
    func anyOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let events: [Event] = [
            .read(true), .read(false), .endInput, .finishWriting, .sendFails, .ownRecordsFail, .missOutput,
            .closeWhenSent, .leave, .allSent,
        ]
        var state = ChannelState()
        for _ in 0..<40 {
            let before = state
            Self.apply(events[Int.random(in: 0..<events.count, using: &random)], to: &state)
            if before.input == .ended { #expect(state.input == .ended) }
            if before.sendFailure != nil { #expect(state.sendFailure == before.sendFailure) }
            if before.output == .finished { #expect(!state.canWrite && state.output != .finishing) }
            if before.course != .owned { #expect(state.course != .owned && !state.canWrite) }
            if case .muted = state.output { #expect(state.course == .owned || before.output == state.output) }
            if state.course == .leaving { #expect(state.input != .paused && state.output != .open) }
        }
    }
}
