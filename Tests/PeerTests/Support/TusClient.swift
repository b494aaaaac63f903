// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Testing

/// tuspy, which uploads files and goes on with those that were cut off.
enum TusClient {
    /// Uploads files that are cut off so many times, and expects each to come whole and nothing to be left of them.
    ///
    /// - Parameters:
    ///   - url: where uploads are made.
    ///   - root: the folder that they come into.
    ///   - cuts: how often they are cut off.
    /// - Throws: `PeerProcess.Failed` where tuspy can't be run, or ends with a fault.
    static func expectUploads(to url: String, into root: String, cuts: Int) async throws {
        let script = Peer.path("Tests/PeerTests/Peers/tus_client.py")
        let command = [Peer.python, script, root, "\(cuts)", url]
        let output = try await PeerProcess.run(command, environment: Peer.environment)
        #expect(output.hasPrefix("ok "), "\(output)")
    }
}
