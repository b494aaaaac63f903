// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// A recording that the inspector's page shows from the beginning; see ``InspectorOptions/recordings``.
public struct InspectorRecording: Sendable {
    /// Why a file can't be shown.
    public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The reason, in a sentence.
        public let description: String
    }

    let name: String
    let size: Int
    let reading: HARFile.Reading

    /// Reads an HTTP archive (HAR 1.2), with the messages of WebSockets as Chromium writes them.
    ///
    /// What an archive lacks is taken as unknown, and entries that can't be read are left out.
    ///
    /// - Parameters:
    ///   - bytes: the file; at most 32 MiB.
    ///   - name: what the page calls it.
    /// - Throws: ``Refusal`` for what is no archive, or too long.
    public init(har bytes: [UInt8], named name: String) throws(Refusal) {
        do {
            reading = try HARFile.read(bytes)
        } catch {
            throw Refusal(description: error.description)
        }
        self.name = name
        size = bytes.count
    }
}
