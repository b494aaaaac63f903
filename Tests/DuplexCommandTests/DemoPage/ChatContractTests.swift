// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexCommand

@Suite("The chat room's contract")
struct ChatContractTests {
    @Test("The page lets nobody type more than the room takes")
    func limits() throws {
        let html = DemoPage.text("index.html")
        let name = try #require(html.firstMatch(of: /<input id="chat-name"[^>]*maxlength="(\d+)"/)?.1)
        let text = try #require(html.firstMatch(of: /<input id="chat-input"[^>]*maxlength="(\d+)"/)?.1)
        #expect(Int(name) == ChatContract.nameLimit)
        #expect(Int(text) == ChatContract.textLimit)
    }

    @Test("A message of the longest name and text fits, even with every unit escaped")
    func worstCase() {
        let escaped = "\\u0000"
        let name = String(repeating: escaped, count: ChatContract.nameLimit)
        let text = String(repeating: escaped, count: ChatContract.textLimit)
        #expect("{\"name\":\"\(name)\",\"text\":\"\(text)\"}".utf8.count <= ChatContract.messageSize)
    }
}
