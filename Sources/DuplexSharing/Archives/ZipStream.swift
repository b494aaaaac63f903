// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

/// A zip that is made while it is sent: a body of a response.
///
/// Files are opened one after the other and read off the loops, as fast as the client takes the zip. About 1 MiB is held at a
/// time, and what ``ZipWriter`` keeps of each entry.
///
/// A file is read up to the size that it has when it is its turn. One that is changed meanwhile is in the zip as it was read, and
/// one that is cut short ends where it ended: the checksum and the sizes are those of what was read. What can't be opened is left
/// out. Both are named in a last entry, `errors.txt`, so that nobody takes the zip for whole.
///
/// **With a length.** Where all sizes are known before and nothing is deflated, the response may say how long it is. Then it has to
/// keep to that: whatever isn't as it was cuts the connection.
struct ZipStream: Sendable {
    private let method: ZipMethod

    /// Makes a zip of such a kind.
    init(_ method: ZipMethod = .stored) {
        self.method = method
    }

    /// The body, of what a sequence gives.
    ///
    /// - Parameter items: asked for the next one when it is its turn. What it throws cuts the connection.
    /// - Returns: the body, without a length.
    func body<Items: AsyncSequence & Sendable>(of items: Items) -> ResponseBody where Items.Element == ZipItem {
        .writer { [method] writer in
            let run = ZipRun(method, writer, keepsLength: false)
            for try await item in items { try await run.send(item) }
            try await run.finish()
        }
    }

    /// The body, of these items.
    ///
    /// - Parameters:
    ///   - items: in their order.
    ///   - saysLength: whether the response says how long it is, where that is known.
    /// - Returns: the body.
    func body(of items: [ZipItem], saysLength: Bool) -> ResponseBody {
        let length = saysLength ? length(of: items) : nil
        return .writer(length: length) { [method] writer in
            let run = ZipRun(method, writer, keepsLength: length != nil)
            for item in items { try await run.send(item) }
            try await run.finish()
        }
    }

    private func length(of items: [ZipItem]) -> Int? {
        guard method == .stored else { return nil }
        let entries = items.lazy.map { item -> ZipEntry in
            if case .file(let size, _) = item.content { return item.entry(.stored, size: size) }
            return item.entry(.stored, size: 0)
        }
        return ZipWriter.length(of: entries).flatMap { Int(exactly: $0) }
    }
}
