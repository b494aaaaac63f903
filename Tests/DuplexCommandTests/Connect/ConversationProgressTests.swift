// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("Progress of a conversation")
struct ConversationProgressTests {
    private static func progress(replies: Int?, sendsAllFirst: Bool) -> ConversationProgress {
        ConversationProgress(.init(replies: replies, sendsAllFirst: sendsAllFirst, wait: .zero, endsWithInput: false))
    }

    @Test("The last of the replies completes it, also before the input ends")
    func replies() {
        let progress = Self.progress(replies: 2, sendsAllFirst: false)
        #expect(progress.missing == 2)
        #expect(!progress.messageArrived())
        #expect(progress.missing == 1)
        #expect(progress.messageArrived())
        #expect(progress.missing == nil)
    }

    @Test("Where all lines are sent first, the end of the input completes it")
    func sendsAllFirst() {
        let progress = Self.progress(replies: 1, sendsAllFirst: true)
        #expect(!progress.messageArrived())
        #expect(progress.inputEnded())
    }

    @Test("With no reply to wait for, the end of the input completes it")
    func none() {
        #expect(Self.progress(replies: 0, sendsAllFirst: true).inputEnded())
    }

    @Test("Without a number nothing completes it, and nothing is missing")
    func unlimited() {
        let progress = Self.progress(replies: nil, sendsAllFirst: false)
        #expect(!progress.messageArrived())
        #expect(!progress.inputEnded())
        #expect(progress.missing == nil)
    }

    @Test("Messages and the end of the input are activity")
    func activity() {
        let progress = Self.progress(replies: nil, sendsAllFirst: false)
        let start = progress.lastActivity
        _ = progress.messageArrived()
        let first = progress.lastActivity
        #expect(first > start)
        _ = progress.inputEnded()
        #expect(progress.lastActivity > first)
    }
}
