// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser

/// What `duplex serve` serves where something is given: a stream of bytes, or a folder.
enum ServeTarget: ExpressibleByArgument, Sendable, Hashable {
    case stream(StreamAddress)
    case folder(String)

    init?(argument: String) {
        if let stream = StreamAddress(argument: argument) {
            self = .stream(stream)
        } else if argument.isEmpty || argument.contains("://") || argument.hasPrefix("unix:") {
            return nil
        } else {
            self = .folder(argument)
        }
    }

    var stream: StreamAddress? {
        if case .stream(let stream) = self { stream } else { nil }
    }
}
