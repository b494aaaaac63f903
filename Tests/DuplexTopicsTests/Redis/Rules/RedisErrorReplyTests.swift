// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Errors of Redis")
struct RedisErrorReplyTests {
    @Test(
        "The first word is the kind",
        arguments: [
            ("NOAUTH Authentication required.", .authenticationRequired), ("LOADING", .loading),
            ("READONLY You can't write against a read only replica.", .readOnly), ("", .init(rawValue: "")),
        ] as [(String, RedisErrorReply.Kind)]
    )
    func readsKind(text: String, kind: RedisErrorReply.Kind) {
        #expect(RedisErrorReply(text).kind == kind)
        #expect(RedisErrorReply(text).description == text)
    }

    @Test("Redirections say where to")
    func readsRedirections() {
        let moved = RedisErrorReply("MOVED 3999 127.0.0.1:6381").redirection
        #expect(moved?.slot == 3_999)
        #expect(moved?.host == "127.0.0.1")
        #expect(moved?.port == 6_381)
        let ask = RedisErrorReply("ASK 0 fe80::1:7000").redirection
        #expect(ask?.host == "fe80::1")
        #expect(ask?.port == 7_000)
        // A node that doesn't know its own name.
        #expect(RedisErrorReply("MOVED 1 :6381").redirection?.host == nil)
        #expect(RedisErrorReply("MOVED 1 :6381").redirection?.port == 6_381)
    }

    @Test(
        "What makes no sense is no redirection",
        arguments: [
            "ERR 3999 127.0.0.1:6381", "MOVED", "MOVED 1", "MOVED x a:1", "MOVED 16384 a:1", "MOVED -1 a:1",
            "MOVED 1 a",
            "MOVED 1 a:0", "MOVED 1 a:65536", "MOVED 1 a:x",
        ]
    )
    func refusesNonsense(text: String) {
        #expect(RedisErrorReply(text).redirection == nil)
    }
}
