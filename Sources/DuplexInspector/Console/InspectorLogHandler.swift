// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import Logging

/// Passes the log of an app to its ``InspectorConsole``, and on to a handler of the app's own.
///
/// As with all handlers of swift-log, level and metadata are each logger's own.
public struct InspectorLogHandler: LogHandler {
    private let label: String
    private let console: InspectorConsole
    private var next: (any LogHandler)?
    private var ownMetadata: Logger.Metadata = [:]
    private var ownLevel: Logger.Level
    private var ownProvider: Logger.MetadataProvider?

    /// Makes a handler.
    ///
    /// Hazard: where the app's own handler writes to a stream that the console captures, a line is there twice: as one of
    /// the log, and as one of the stream.
    ///
    /// - Parameters:
    ///   - label: of the logger.
    ///   - console: where its lines are shown.
    ///   - next: the app's own handler, which gets all lines, too. Default: there is none.
    ///   - level: the lowest level that is logged, where there is no handler of the app's own to say it. Default: `info`.
    public init(
        label: String,
        to console: InspectorConsole,
        and next: (any LogHandler)? = nil,
        level: Logger.Level = .info
    ) {
        self.label = label
        self.console = console
        self.next = next
        ownLevel = level
    }

    /// The lowest level that is logged; that of the app's own handler, where there is one.
    public var logLevel: Logger.Level {
        get { next?.logLevel ?? ownLevel }
        set {
            ownLevel = newValue
            next?.logLevel = newValue
        }
    }

    /// What each line has with it.
    public var metadata: Logger.Metadata {
        get { next?.metadata ?? ownMetadata }
        set {
            ownMetadata = newValue
            next?.metadata = newValue
        }
    }

    /// Adds metadata to each line when it is logged.
    public var metadataProvider: Logger.MetadataProvider? {
        get { next?.metadataProvider ?? ownProvider }
        set {
            ownProvider = newValue
            next?.metadataProvider = newValue
        }
    }

    /// One of the values that each line has with it.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { next?[metadataKey: key] ?? ownMetadata[key] }
        set {
            ownMetadata[key] = newValue
            next?[metadataKey: key] = newValue
        }
    }

    /// Adds a line to the console, and passes it on.
    public func log(event: LogEvent) {
        // What is nearest to the call counts most.
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let said = event.metadata { all.merge(said) { $1 } }
        if let error = event.error { all["error"] = "\(error)" }
        console.add(event, label: label, metadata: all)
        next?.log(event: event)
    }
}
