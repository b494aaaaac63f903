// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Testing

@testable import DuplexDelegates
@testable import DuplexSockets

@Suite(.timeLimit(minutes: 1)) struct DelegateQueueTests {
    private final class Name: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }

    @Test("Whoever is the delegate when its turn has come is called; nobody if there is none, or nothing to tell")
    func replaced() async {
        let queue = DispatchQueue(label: "duplex.tests")
        let delegates = DelegateQueue<Name>(.queue(queue), label: "duplex.tests.delegate")
        let (told, tell) = AsyncStream<String>.makeStream()
        await delegates.call { tell.yield($0.text) }
        let (first, second) = (Name("first"), Name("second"))
        delegates.tell { [weak first] in first }
        await delegates.call {
            tell.yield($0.text)
            delegates.tell { [weak second] in second }
        }
        await delegates.call { tell.yield($0.text) }
        await delegates.call(if: { false }, { _ in tell.yield("unwanted") })
        tell.finish()
        var names: [String] = []
        for await name in told { names.append(name) }
        #expect(names == ["first", "second"])
        #expect(first.text + second.text == "firstsecond" && delegates.hasDelegate)
    }

    @Test("What nobody waits for is called in its turn")
    func posted() async {
        let delegates = DelegateQueue<Name>(
            .queue(DispatchQueue(label: "duplex.tests")),
            label: "duplex.tests.delegate"
        )
        let name = Name("name")
        delegates.tell { [weak name] in name }
        let (told, tell) = AsyncStream<Int>.makeStream()
        for number in 1...3 { delegates.post(if: { number != 2 }, { _ in tell.yield(number) }) }
        await delegates.call { _ in tell.finish() }
        var numbers: [Int] = []
        for await number in told { numbers.append(number) }
        #expect(numbers == [1, 3] && name.text == "name")
    }

    @Test("One of the main actor is called there, also when it is set while a call waits for another queue")
    func onMain() async {
        let queue = DispatchQueue(label: "duplex.tests")
        let delegates = DelegateQueue<Name>(.queue(queue), label: "duplex.tests.delegate")
        let (other, main) = (Name("other"), Name("main"))
        delegates.tell { other }
        queue.suspend()
        async let called: Void = delegates.call { name in
            #expect(name.text == "main")
            dispatchPrecondition(condition: .onQueue(.main))
        }
        await MainActor.run { delegates.tellOnMain { main } }
        queue.resume()
        await called
        #expect(await MainActor.run { delegates.delegate === main })
    }
}
