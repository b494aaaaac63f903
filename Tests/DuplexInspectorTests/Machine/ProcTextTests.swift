// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("Texts of the kernel's")
struct ProcTextTests {
    private static let status = "Name:\tapp\nVmHWM:\t   12 kB\nVmRSS:\t    8 kB\nThreads:\t3\nOdd:\t\n"

    @Test(
        "Numbers by name, in bytes where they are in kB",
        arguments: [
            ("VmRSS", 8_192), ("VmHWM", 12_288), ("Threads", 3), ("Odd", nil), ("Name", nil), ("Vm", nil),
        ] as [(String, Int?)]
    )
    func number(name: String, value: Int?) {
        #expect(ProcText.number(name, in: Self.status) == value)
    }

    @Test("A line by its first word, and the numbers at the beginning")
    func words() {
        #expect(ProcText.words("btime", in: "cpu 1 2\nbtime 1700\n") == ["1700"])
        #expect(ProcText.words("bt", in: "btime 1700\n") == [])
        #expect(ProcText.numbers("0.52 0.58 0.59 3/602 4711\n") == [0.52, 0.58, 0.59])
    }

    @Test("A thread's line, whatever its name has in it", arguments: ["app", "a) S 1 (b", "", "a b"])
    func stat(name: String) {
        let numbers = (4...52).map { "\($0)" }.joined(separator: " ")
        let stat = ProcText.stat("42 (\(name)) S \(numbers)\n")
        #expect(stat == ProcText.Stat(id: 42, name: name, state: "S", user: 14, system: 15, start: 22))
    }

    @Test("What isn't such a line is none", arguments: ["", "42", "42 (app", "42 (app) S 1 2", "x (app) S", ") ("])
    func noStat(text: String) {
        #expect(ProcText.stat(text) == nil)
    }

    @Test("What interfaces have moved")
    func traffic() {
        let text = """
            Inter-|   Receive                            |  Transmit
             face |bytes    packets errs drop fifo frame compressed multicast|bytes packets
                lo: 1000 2 0 0 0 0 0 0 2000 5 0 0 0 0 0 0
            eth0:1:3000 2 0 0 0 0 0 0 4000 5 0 0 0 0 0 0
            """
        let traffic = ProcText.traffic(text)
        #expect(traffic.keys.sorted() == ["eth0:1", "lo"])
        #expect(traffic["lo"]?.received == 1_000 && traffic["lo"]?.sent == 2_000)
        #expect(traffic["eth0:1"]?.received == 3_000)
    }

    @Test("The name of the system")
    func systemName() {
        #expect(ProcText.systemName("ID=x\nPRETTY_NAME=\"Debian 12\"\n") == "Debian 12")
        #expect(ProcText.systemName("ID=x\n") == nil)
    }

    @Test("A file that there isn't is none")
    func file() {
        #expect(ProcText.file("no/such") == nil)
        #expect(ProcText.file("self/status")?.contains("VmRSS") == true)
    }
}
