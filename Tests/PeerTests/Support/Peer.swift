// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation
import Testing

/// A WebSocket library that others wrote, as a client and as a server.
enum Peer: String, CaseIterable, CustomTestStringConvertible {
    /// <https://websockets.readthedocs.io>, for Python.
    case websockets
    /// <https://docs.aiohttp.org>, for Python.
    case aiohttp
    /// <https://python-hyper.org/projects/wsproto>, for Python: rules only, with I/O of ours around them.
    case wsproto
    /// <https://github.com/websockets/ws>, for Node.
    case ws

    /// The root of the repository.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The Python with the packages that `scripts/setup --tests` installs.
    static var python: String { path(".build-peers/venv/bin/python3") }

    /// That of mitmproxy, which asks for older versions of what others of the peers are tested with.
    static var mitmproxyPython: String { path(".build-peers/mitmproxy/bin/python3") }

    /// Where Node finds `ws`: as Debian installs it, and as `scripts/setup --tests` does elsewhere.
    static var environment: [String: String] {
        ["NODE_PATH": "/usr/share/nodejs:\(path(".build-peers/node/node_modules"))", "PYTHONDONTWRITEBYTECODE": "1"]
    }

    /// Whether the library can send a message in fragments.
    var canFragment: Bool { self != .aiohttp }

    /// The longest message that it isn't too slow for; wsproto masks byte by byte in Python.
    var largestMessage: Int { self == .wsproto ? 65_537 : .max }

    /// The close frames that it knows; to wsproto 1014, which was registered last, is no code.
    var closeFrames: [CloseFrame] {
        Corpus.closeFrames.filter { self != .wsproto || $0.code != .badGateway }
    }

    /// What the library's client can do to a server.
    var scenarios: [Scenario] { Scenario.allCases.filter { canFragment || $0 != .fragments } }

    var testDescription: String { rawValue }

    /// A file of the repository.
    static func path(_ relative: String) -> String {
        root.appending(path: relative).path(percentEncoded: false)
    }

    /// The command of a client that plays a scenario against the server at the URL.
    func client(_ scenario: Scenario, path: String, url: String) -> [String] {
        command("client") + [scenario.rawValue, path, url]
    }

    /// The command of a server, which prints its port.
    var server: [String] { command("server") }

    private func command(_ name: String) -> [String] {
        let folder = "Tests/PeerTests/Peers/"
        return switch self {
        case .websockets, .aiohttp, .wsproto: [Self.python, Self.path("\(folder)\(name).py"), rawValue]
        case .ws: [Self.node, Self.path("\(folder)\(name).cjs")]
        }
    }

    static var node: String {
        let folders = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
        return folders.map { "\($0)/node" }.first(where: FileManager.default.isExecutableFile(atPath:)) ?? "node"
    }
}

/// What a foreign client does to our server; see Peers/scenarios.py.
enum Scenario: String, CaseIterable, CustomTestStringConvertible {
    case messages
    case pipelining
    case fragments
    case pings
    case closing
    case subprotocols

    var testDescription: String { rawValue }
}
