// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The folders of a target in their order, and who refers to whom.
struct Floors: Sendable {
    /// From the ground up; `.` is the target's own folder.
    let order: [String]
    private let files: [(file: SourceFile, floor: String, declared: SourceFile.Declarations)]
    /// The floor of each type that one file of the target declares.
    private let homes: [String: String]

    init(_ files: [SourceFile], order: [String]) {
        self.order = order
        self.files = files.map { ($0, Self.floor(of: $0.path), $0.declarations) }
        let places = self.files.flatMap { file in file.declared.types.map { ($0, [file.floor]) } }
        homes = Dictionary(places, uniquingKeysWith: +).compactMapValues { $0.count == 1 ? $0.first : nil }
    }

    /// The folder below `Sources/Target` that a file lies in.
    static func floor(of path: String) -> String {
        let parts = path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : "."
    }

    /// The folders that there are.
    var found: Set<String> { Set(files.map(\.floor)) }

    /// The names of types of a higher floor, with file, line and floor.
    var faults: [String] {
        files.flatMap { file, floor, declared -> [String] in
            let own = declared.types.union(declared.nestedTypes)
            return file.words.compactMap { word -> String? in
                guard !word.isMember, !own.contains(word.text), let home = homes[word.text], isAbove(home, floor) else {
                    return nil
                }
                return "\(file.path):\(word.line): \(word.text) is of \(home), above \(floor)"
            }
        }
    }

    private func isAbove(_ one: String, _ other: String) -> Bool {
        guard let one = order.firstIndex(of: one), let other = order.firstIndex(of: other) else { return false }
        return one > other
    }
}
