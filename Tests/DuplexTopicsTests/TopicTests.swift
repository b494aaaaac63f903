// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTopics
import DuplexWire
import Testing

@Suite("A topic", .timeLimit(minutes: 1))
struct TopicTests {
    @Test("It is a sequence of what is published")
    func sequence() async throws {
        let topics = Topics()
        var iterator = topics["prices/#"].makeAsyncIterator()
        topics["prices/gold"].publish("1")
        topics["prices/silver"].publish([2])
        let bytes: [UInt8] = [1, 2, 3]
        topics["prices/tin"].publish(bytes[1...])
        #expect(await iterator.next()?.text == "1")
        #expect(await iterator.next()?.message == .binary([2]))
        #expect(await iterator.next()?.message == .binary([2, 3]))
    }

    @Test("Of more than 1,000 that wait the oldest are dropped, which is told")
    func drops() async throws {
        let topic = Topics()["a"]
        var iterator = topic.makeAsyncIterator()
        for number in 1...1_010 { topic.publish("\(number)") }
        let message = await iterator.next()
        #expect(message?.text == "11" && message?.missed == 10)
    }

    @Test("Of a name that isn't valid it ends at once")
    func invalid() async {
        var iterator = Topics()[""].makeAsyncIterator()
        #expect(await iterator.next() == nil)
    }

    @Test("What isn't published says why")
    func refuses() {
        let topics = Topics()
        for name in ["", "a/", "a/#"] {
            guard case .refused(let error) = topics[name].publish("1") else {
                Issue.record("\(name)")
                continue
            }
            #expect(error.code == .invalidName)
        }
    }
}
