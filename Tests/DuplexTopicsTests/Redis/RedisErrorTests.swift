// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Errors of Redis as they are thrown")
struct RedisErrorTests {
    @Test("An error has the server's own words, without the password")
    func hidesSecrets() {
        let error = RedisError(RedisErrorReply("ERR unknown command, args: `AUTH` `topsecret`"), hiding: "topsecret")
        #expect(error.description == "Redis has refused: ERR unknown command, args: `AUTH` `…`")
        #expect(error.reply?.text.contains("topsecret") == false)
        #expect(RedisError(RedisErrorReply("ERR no"), hiding: "").message.hasSuffix("ERR no"))
    }

    @Test("Some errors tell that another server is the master", arguments: ["READONLY no", "MASTERDOWN no"])
    func tellsOfOthers(text: String) {
        #expect(RedisError(RedisErrorReply(text)).tellsOfOtherMaster)
        #expect(RedisError(.notMaster, "").tellsOfOtherMaster)
        #expect(!RedisError(RedisErrorReply("ERR no")).tellsOfOtherMaster)
        #expect(!RedisError(.timedOut, "").tellsOfOtherMaster)
    }
}
