// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

extension RedisClient {
    /// Runs a script, which is sent whole to a server that doesn't know it; called on the loop.
    ///
    /// - Parameters:
    ///   - script: the script.
    ///   - keys: its keys, all of one slot.
    ///   - arguments: what else it is given.
    ///   - completion: called on the loop with the result, perhaps before this returns.
    nonisolated func run(
        _ script: RedisScript,
        _ keys: [[UInt8]],
        _ arguments: [RedisCommand.Word],
        _ completion: @escaping RedisConnection.Completion
    ) {
        let whole: RedisConnection.Completion = { [self] result in
            guard case .failure(let error) = result, error.kind == .noScript else { return completion(result) }
            let command = script.command(keys, arguments, isWhole: true)
            onLoop(loop, (command, keys[0], completion)) { $0.send($1.0, key: $1.1, $1.2) }
        }
        onLoop(loop, (script.command(keys, arguments), keys[0], whole)) { $0.send($1.0, key: $1.1, $1.2) }
    }
}
