// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What somebody sends to a server of HTTP/1.1, right or wrong, and what the RFCs have it answered with.
///
/// Cases lie in `Tests/ConformanceTests/Corpus`, line by line:
///
/// | line | meaning |
/// |---|---|
/// | `# …` | a remark |
/// | `case name [RFC …]` | begins a case, with what says how it is answered |
/// | `each a \| b` | makes a case of each, in which it stands for `$$` |
/// | `> bytes` | is sent, with CR LF behind it |
/// | `>> bytes` | is sent as it stands |
/// | `? 100` | the client waits for a head of that status |
/// | `cut` | the client ends its side |
/// | `= 200 POST /x hello` | is answered with that; the handler has seen that method, target and body |
/// | `=50 200 GET / -` | the same, so many times |
/// | `= 400` | is answered with that, by the rules of the protocol |
/// | `= (405)` | is answered with that by the server above the protocol, which took the request |
/// | `open`, `close` | whether the connection goes on then |
///
/// In bytes, `\r`, `\n`, `\t`, `\0`, `\\`, `\xFF` and `\e` (nothing) are escapes, and `{text*5}` is repeated. A body is `-`
/// when it is empty, and `#5` when it is longer than 20 bytes or not plain; so is a target that is longer than 60.
package struct RequestCase: Sendable, CustomStringConvertible {
    /// What the client does.
    package enum Step: Sendable, Equatable {
        case send([UInt8])
        /// Waits for a head with that status.
        case wait(Int)
        /// Ends its side.
        case end
    }

    /// What the server answers.
    package struct Answer: Sendable, Equatable {
        package var status: Int
        /// Method, target and body as the handler has seen them; `nil` where none has.
        package var request: String?
        /// Whether the request is refused although it is one.
        package var isTaken = false

        package var text: String { request.map { "\(status) \($0)" } ?? "\(status)" }
    }

    package var name: String
    package var steps: [Step] = []
    package var answers: [Answer] = []
    package var staysOpen = false

    /// The name, with what says how it is answered.
    package var description: String { name }

    /// All that is sent.
    package var bytes: [UInt8] {
        steps.flatMap { step in
            if case .send(let bytes) = step { bytes } else { [UInt8]() }
        }
    }

    /// Whether the client ends its side.
    package var isCut: Bool { steps.contains(.end) }

    /// Whether the client waits before it sends all.
    package var waits: Bool {
        steps.contains { if case .wait = $0 { true } else { false } }
    }

    /// What is seen of the case where a server answers it.
    package var transcript: [String] { answers.map(\.text) + [staysOpen ? "open" : "close"] }

    /// How a handler, and a case, tell of a request that was seen.
    package static func summary(method: String, target: String, body: [UInt8]) -> String {
        let isPlain = body.count <= 20 && body.allSatisfy { (0x21...0x7E).contains($0) }
        let text = body.isEmpty ? "-" : isPlain ? String(decoding: body, as: UTF8.self) : "#\(body.count)"
        return "\(method) \(target.utf8.count > 60 ? "#\(target.utf8.count)" : target) \(text)"
    }
}
