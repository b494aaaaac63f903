// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Values under one heading, as the page gets them.
struct ValueGroup: Codable, Hashable, Sendable {
    /// Where values come from.
    enum Source: String, Codable, Sendable {
        case app
        case defaults
        case environment
        case arguments
    }

    let name: String
    let source: Source
    let items: [ValueItem]
}

/// One value, as the page gets it.
struct ValueItem: Codable, Hashable, Sendable {
    /// The longest text that is shown; a longer one is cut, and can't be edited.
    static let limit = 65_536

    let name: String
    let kind: String
    /// The texts of a choice.
    private(set) var choices: [String]?
    /// What is shown; the mask of a secret.
    var text = ""
    /// Of what the value was, to detect changes since.
    var version = ""
    var isEditable: Bool { editable == true }
    var isSecret: Bool { secret == true }
    var isCut: Bool { cut == true }
    /// The page gets these if they are true.
    private var editable: Bool?
    private var secret: Bool?
    private var cut: Bool?
    /// Why there is no value.
    var error: String?

    /// - Parameters:
    ///   - name: its name.
    ///   - kind: its kind.
    ///   - value: the value.
    ///   - isEditable: whether it can be set.
    ///   - isSecret: whether it is masked.
    ///   - version: of the value.
    init(
        _ name: String,
        _ kind: InspectorValueKind = .text,
        value: String,
        isEditable: Bool = false,
        isSecret: Bool = false,
        version: String
    ) {
        self.init(name, kind)
        let isCut = value.utf8.count > Self.limit
        if isSecret { secret = true }
        if isCut { cut = true }
        if isEditable, !isCut { editable = true }
        text = isSecret ? SecretNames.mask : isCut ? String(value.prefix(Self.limit)) : value
        self.version = version
    }

    /// A value that couldn't be had.
    init(_ name: String, _ kind: InspectorValueKind, error: String) {
        self.init(name, kind)
        self.error = error
    }

    private init(_ name: String, _ kind: InspectorValueKind) {
        self.name = name
        self.kind = kind.name
        if case .choice(let choices) = kind { self.choices = choices }
    }
}
