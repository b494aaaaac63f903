// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The form in ASCII of host names with other characters (RFC 3492), for names that need no tables to be prepared for it.
///
/// The mapping of all others (UTS #46) takes tables, which libraries have. So this is only good for hints.
package enum Punycode {
    /// What the encoded labels begin with (RFC 5890 section 2.3.2.1).
    private static let prefix = "xn--"
    private static let base = 36
    private static let (least, most) = (1, 26)
    /// The longest label of a name (RFC 1035 section 2.3.4).
    private static let labelBound = 63

    /// A host name in ASCII.
    ///
    /// - Parameter host: the name, of any case.
    /// - Returns: the name; `nil` if one of its characters would be mapped to others, or is none of a name.
    package static func host(_ host: String) -> String? {
        var labels: [String] = []
        for label in host.lowercased().split(separator: ".", omittingEmptySubsequences: false) {
            guard label.unicodeScalars.allSatisfy(staysItself), let encoded = encoded(label) else { return nil }
            labels.append(encoded)
        }
        return labels.joined(separator: ".")
    }

    private static func staysItself(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return Grammar.isLetter(UInt8(scalar.value)) || "0123456789-".unicodeScalars.contains(scalar)
        }
        let properties = scalar.properties
        let isOfNames = [.lowercaseLetter, .otherLetter, .modifierLetter, .decimalNumber].contains(
            properties.generalCategory
        )
        return isOfNames && properties.canonicalCombiningClass == .notReordered && !properties.changesWhenNFKCCaseFolded
    }

    /// A label, encoded if it isn't ASCII (RFC 3492 section 6.3).
    private static func encoded(_ label: Substring) -> String? {
        let points = label.unicodeScalars.map { Int($0.value) }
        let basic = points.filter { $0 < 0x80 }
        if basic.count == points.count { return String(label) }
        var output = basic.map { UInt8($0) }
        if !basic.isEmpty { output.append(UInt8(ascii: "-")) }
        var (handled, next, delta, bias) = (basic.count, 0x80, 0, 72)
        while handled < points.count {
            guard output.count <= labelBound, let smallest = points.filter({ $0 >= next }).min() else { return nil }
            delta += (smallest - next) * (handled + 1)
            next = smallest
            for point in points {
                if point < next { delta += 1 }
                guard point == next else { continue }
                append(delta, bias, to: &output)
                bias = adapted(delta, handled + 1, isFirst: handled == basic.count)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        let text = prefix + String(decoding: output, as: UTF8.self)
        return text.utf8.count <= labelBound ? text : nil
    }

    /// A number of variable length (RFC 3492 section 3.3).
    private static func append(_ delta: Int, _ bias: Int, to output: inout [UInt8]) {
        var (rest, position) = (delta, base)
        while true {
            let threshold = min(max(position - bias, least), most)
            if rest < threshold { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digit(rest))
    }

    /// RFC 3492 section 6.1.
    private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var steps = 0
        while delta > (base - least) * most / 2 {
            delta /= base - least
            steps += base
        }
        return steps + (base - least + 1) * delta / (delta + 38)
    }

    private static func digit(_ value: Int) -> UInt8 {
        UInt8(value < 26 ? Int(UInt8(ascii: "a")) + value : Int(UInt8(ascii: "0")) + value - 26)
    }
}
