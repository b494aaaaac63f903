// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A name in a folder, or a path of them, as the file system has it: bytes, which needn't be UTF-8.
package struct FileName: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package init(_ text: String) { bytes = Array(text.utf8) }

    /// The name; nil where it isn't UTF-8.
    package var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The name for people: each byte that isn't UTF-8 is `%` and two digits.
    package var escaped: String { EscapedBytes.text(of: bytes) }

    /// Whether it begins with a dot.
    package var isHidden: Bool { bytes.first == UInt8(ascii: ".") }

    /// The path of something in the folder at this path; of the top itself that is empty.
    package func appending(_ name: FileName) -> FileName {
        bytes.isEmpty ? name : FileName(bytes: bytes + [UInt8(ascii: "/")] + name.bytes)
    }

    /// The names of a path.
    package var components: [FileName] { bytes.split(separator: UInt8(ascii: "/")).map { FileName(bytes: Array($0)) } }

    /// The bytes with a zero at their end.
    var cString: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
}

/// A name that calls of the system take: text, or bytes.
package protocol FileNaming: Sendable {
    var fileName: FileName { get }
}

extension FileName: FileNaming {
    package var fileName: FileName { self }
}

extension String: FileNaming {
    package var fileName: FileName { FileName(self) }
}
