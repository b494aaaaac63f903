// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Names in a zip that can't lead out of the folder that it is extracted to, on any system.
enum ZipName {
    /// The longest name: its length is a number of 16 bits, and there is to be room for a number behind it.
    static let limit = 65_000

    /// The path with what isn't safe replaced by `_`.
    ///
    /// Control characters, marks of direction and backslashes; the dots of a name that has nothing but dots and blanks, which Windows cuts off; the
    /// colon of a drive letter. Empty names and single dots are left out, so that no path is absolute.
    ///
    /// - Parameter path: names with slashes between them.
    /// - Returns: the path, without a slash at its end; `_` where nothing is left.
    static func safe(_ path: String) -> String {
        var result = String.UnicodeScalarView()
        // By scalars: a slash with an accent is a slash to whoever extracts it.
        for name in path.unicodeScalars.split(separator: "/") where !name.elementsEqual(CollectionOfOne(".")) {
            let isFirst = result.isEmpty
            if !isFirst { result.append("/") }
            append(name, isFirst: isFirst, to: &result)
        }
        return result.isEmpty ? "_" : cut(String(result))
    }

    private static func append(
        _ name: Substring.UnicodeScalarView,
        isFirst: Bool,
        to result: inout String.UnicodeScalarView
    ) {
        let isDotted = name.allSatisfy { $0 == "." || $0 == " " }
        let isDrive = isFirst && name.first.map(isLetter) == true
        for (index, scalar) in name.enumerated() {
            let isUnsafe =
                NameScalar.isUnfit(scalar) || scalar == "\\" || (isDotted && scalar == ".")
                || (isDrive && index == 1 && scalar == ":")
            result.append(isUnsafe ? "_" : scalar)
        }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && scalar.properties.isAlphabetic
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: limit)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }

    /// The name with a number before its extension: `a/b (2).txt`.
    static func numbered(_ path: String, _ number: Int) -> String {
        let bytes = path.utf8
        let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { bytes.index(after: $0) } ?? bytes.startIndex
        guard let dot = bytes[start...].lastIndex(of: UInt8(ascii: ".")), dot > start else {
            return "\(path) (\(number))"
        }
        return "\(path[..<dot]) (\(number))\(path[dot...])"
    }
}

/// The names that a zip has so far.
///
/// Takes about 16 bytes for each: the names themselves lie in the directory, and these are their hashes. Two that are the same
/// by chance, which nobody will live to see, number a name that wasn't there.
struct ZipNames: Sendable {
    private var hashes: Set<Int> = []
    private var folders: Set<Int> = []
    /// For names that came several times, which number they had last.
    private var numbers: [Int: Int] = [:]

    init() {}

    /// The name of a file, numbered where it is there already.
    mutating func file(_ path: String) -> String {
        let hash = path.hashValue
        if hashes.insert(hash).inserted { return path }
        var number = numbers[hash] ?? 1
        while true {
            number += 1
            let name = ZipName.numbered(path, number)
            guard hashes.insert(name.hashValue).inserted else { continue }
            numbers[hash] = number
            return name
        }
    }

    /// The name of a folder, numbered where a file has it; `nil` where the folder is there already.
    mutating func folder(_ path: String) -> String? {
        if folders.contains(path.hashValue) { return nil }
        let name = file(path)
        folders.insert(name.hashValue)
        return name
    }
}
