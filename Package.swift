// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import PackageDescription

/// What every target is compiled with; the reasons are in docs/Rooms.md.
var strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
    .strictMemorySafety(),
]
// Warnings are errors in builds of our own, which the scripts and CI are: a later compiler's warning must not keep an app from
// being built.
if Context.environment["DUPLEX_STRICT"] != nil { strict.append(.treatAllWarnings(as: .error)) }

/// What only some products need, so that others can be had without resolving it.
func product(_ name: String, of package: String, for trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let lifecycle = product("ServiceLifecycle", of: "swift-service-lifecycle", for: "Server")
let arguments = product("ArgumentParser", of: "swift-argument-parser", for: "Command")
let signals = product("UnixSignals", of: "swift-service-lifecycle", for: "Server")
let metrics = product("CoreMetrics", of: "swift-metrics", for: "WebSockets")
let metricsTestKit = product("MetricsTestKit", of: "swift-metrics", for: "WebSockets")
let tracing = product("Tracing", of: "swift-distributed-tracing", for: "WebSockets")
let inMemoryTracing = product("InMemoryTracing", of: "swift-distributed-tracing", for: "WebSockets")
let mustache = product("Mustache", of: "swift-mustache", for: "Mustache")
let configuration = product("Configuration", of: "swift-configuration", for: "Command")
let database = product("GRDB", of: "GRDB.swift", for: "Sharing")
let sqlite = product("GRDBSQLite", of: "GRDB.swift", for: "Inspector")
let histogram = product("Histogram", of: "hdrhistogram-swift", for: "Inspector")

let package = Package(
    name: "duplex",
    platforms: [.macOS("26.0")],
    products: [
        .library(name: "DuplexSockets", targets: ["DuplexSockets"]),
        .library(name: "DuplexWire", targets: ["DuplexWire"]),
        .library(name: "DuplexWebSockets", targets: ["DuplexWebSockets"]),
        .library(name: "DuplexDelegates", targets: ["DuplexDelegates"]),
        .library(name: "DuplexServer", targets: ["DuplexServer"]),
        .library(name: "DuplexFoundation", targets: ["DuplexFoundation"]),
        .library(name: "DuplexMustache", targets: ["DuplexMustache"]),
        .library(name: "DuplexSharing", targets: ["DuplexSharing"]),
        .library(name: "DuplexInspector", targets: ["DuplexInspector"]),
        .library(name: "DuplexTopics", targets: ["DuplexTopics"]),
        .library(name: "DuplexTesting", targets: ["DuplexTesting"]),
        .executable(name: "duplex", targets: ["DuplexCommand"]),
    ],
    // All are on by default; docs/Rooms.md says what can be had without which.
    traits: [
        .default(enabledTraits: ["Mustache", "Command"]),
        .trait(name: "WebSockets", description: "DuplexWebSockets: metrics and tracing"),
        .trait(
            name: "Server",
            description: "DuplexServer and what needs it: a service's life",
            enabledTraits: ["WebSockets"]
        ),
        .trait(name: "Mustache", description: "DuplexMustache: templates", enabledTraits: ["Server"]),
        .trait(name: "Sharing", description: "DuplexSharing: a database of properties", enabledTraits: ["Server"]),
        .trait(name: "Inspector", description: "DuplexInspector: databases, percentiles", enabledTraits: ["Sharing"]),
        .trait(name: "Command", description: "duplex: arguments, configuration", enabledTraits: ["Inspector"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["JSON", "YAML"]),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // What bytes and rules both stand on.
        .target(name: "DuplexBase", swiftSettings: strict),

        // BYTES: the system call and up.
        .target(
            name: "CDuplexSystem",
            linkerSettings: [.linkedLibrary("crypt", .when(platforms: [.linux]))]
        ),
        .systemLibrary(
            name: "CDuplexOpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .target(
            name: "DuplexSockets",
            dependencies: ["DuplexBase", "CDuplexSystem", "CDuplexOpenSSL", logging, deque],
            swiftSettings: strict
        ),

        // RULES: sans-I/O.
        .target(name: "DuplexWire", dependencies: ["DuplexBase", httpTypes], swiftSettings: strict),

        // What compresses the messages of the wire; no product, as nothing in it is public.
        .systemLibrary(
            name: "CDuplexZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        .systemLibrary(
            name: "CDuplexISAL",
            pkgConfig: "libisal",
            providers: [.apt(["libisal-dev"]), .brew(["isa-l"])]
        ),
        .target(
            name: "DuplexDeflate",
            dependencies: ["DuplexBase", "DuplexWire", "CDuplexISAL", "CDuplexZlib"],
            swiftSettings: strict
        ),

        // USER: what joins the two.
        .target(
            name: "DuplexWebSockets",
            dependencies: [
                "DuplexSockets", "DuplexWire", "DuplexDeflate", "CDuplexOpenSSL", httpTypes, logging, deque, metrics,
                tracing,
            ],
            swiftSettings: strict
        ),
        // Connections with delegates, for code that isn't `async`.
        .target(
            name: "DuplexDelegates",
            dependencies: ["DuplexSockets", "DuplexWire", "DuplexWebSockets", httpTypes, deque],
            swiftSettings: strict
        ),
        .target(
            name: "DuplexServer",
            dependencies: [
                "CDuplexSystem", "DuplexSockets", "DuplexWire", "DuplexDeflate", "DuplexWebSockets", httpTypes, logging,
                deque, lifecycle, signals, metrics, tracing,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "DuplexFoundation",
            dependencies: [
                "DuplexSockets", "DuplexWire", "DuplexWebSockets", "DuplexDelegates", "DuplexServer", "DuplexTopics",
                httpTypes,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "DuplexMustache",
            dependencies: ["DuplexWire", "DuplexServer", httpTypes, mustache],
            swiftSettings: strict
        ),
        // What reads the XML of WebDAV.
        .systemLibrary(
            name: "CDuplexExpat",
            pkgConfig: "expat",
            providers: [.apt(["libexpat1-dev"]), .brew(["expat"])]
        ),
        // The web pages, compiled into the program by `#embed`.
        .target(name: "CDuplexPages", exclude: ["web"]),
        .target(
            name: "DuplexSharing",
            dependencies: [
                "CDuplexExpat", "CDuplexPages", "DuplexSockets", "DuplexWire", "DuplexDeflate", "DuplexWebSockets",
                "DuplexServer", "DuplexFoundation", httpTypes, logging, database,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "DuplexInspector",
            dependencies: [
                "CDuplexSystem", "DuplexSockets", "DuplexWire", "DuplexDeflate", "DuplexWebSockets",
                "DuplexServer", "DuplexFoundation", "DuplexSharing", httpTypes, logging, deque, database, sqlite,
                histogram,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "DuplexTopics",
            dependencies: [
                "DuplexSockets", "DuplexWire", "DuplexWebSockets", "DuplexServer", httpTypes, logging, deque, lifecycle,
                metrics,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "DuplexTesting",
            dependencies: [
                "DuplexBase", "DuplexWire", "DuplexSockets", "DuplexWebSockets", "DuplexServer", httpTypes,
            ],
            swiftSettings: strict
        ),
        // What shows an address in the terminal for phones.
        .systemLibrary(
            name: "CDuplexQRCode",
            pkgConfig: "libqrencode",
            providers: [.apt(["libqrencode-dev"]), .brew(["qrencode"])]
        ),
        .executableTarget(
            name: "DuplexCommand",
            dependencies: [
                "CDuplexQRCode", "DuplexSockets", "DuplexWire", "DuplexWebSockets", "DuplexServer", "DuplexSharing",
                "DuplexInspector", "DuplexTopics", httpTypes, logging, arguments, histogram, configuration,
            ],
            swiftSettings: strict
        ),

        // One test target for each room; what crosses rooms has targets of its own.
        .testTarget(name: "DuplexBaseTests", dependencies: ["DuplexBase"], swiftSettings: strict),
        .testTarget(
            name: "DuplexSocketsTests",
            dependencies: [
                "DuplexTestTimes", "DuplexTestNetworks", "DuplexTestProcesses", "DuplexBase", "DuplexSockets",
                "CDuplexSystem", logging,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DuplexDeflateTests",
            dependencies: ["DuplexTestTimes", "DuplexBase", "DuplexDeflate", "DuplexWire", "DuplexTesting"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DuplexWireTests",
            dependencies: [
                "DuplexTestSplits", "DuplexBase", "DuplexWire", "DuplexDeflate", "DuplexTesting", httpTypes,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DuplexTestingTests",
            dependencies: [
                "DuplexTestTimes", "DuplexTestProcesses", "DuplexTestPeers", "DuplexTesting", "DuplexSockets",
                "DuplexWebSockets",
                "DuplexWire", "DuplexServer", httpTypes, logging,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DuplexWebSocketsTests",
            dependencies: [
                "DuplexTestTimes", "DuplexTestSplits", "DuplexTestNetworks", "DuplexTestPeers", "DuplexTestProcesses",
                "DuplexTesting", "DuplexDeflate",
                "DuplexSockets", "DuplexWire", "DuplexWebSockets", "DuplexServer", httpTypes, logging, metrics,
                metricsTestKit, tracing, inMemoryTracing,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DuplexDelegatesTests",
            dependencies: [
                "DuplexTestTimes", "DuplexTestPeers", "DuplexTesting", "DuplexDelegates", "DuplexSockets",
                "DuplexWire", "DuplexWebSockets", "DuplexServer", httpTypes,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DuplexFoundationTests",
            dependencies: [
                "DuplexTestTimes", "DuplexFoundation", "DuplexDelegates", "DuplexTestPeers", "DuplexTesting",
                "DuplexSockets",
                "DuplexWire",
                "DuplexWebSockets",
                "DuplexServer", "DuplexTopics", httpTypes,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DuplexMustacheTests",
            dependencies: ["DuplexMustache", "DuplexTesting", "DuplexWire", "DuplexServer", httpTypes],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DuplexServerTests",
            dependencies: [
                "DuplexTestTimes", "DuplexTestPeers", "DuplexTestProcesses", "DuplexTesting", "DuplexSockets",
                "DuplexWire",
                "DuplexDeflate", "DuplexWebSockets", "DuplexServer", httpTypes, logging, lifecycle, metrics,
                metricsTestKit, tracing,
                inMemoryTracing,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DuplexSharingTests",
            dependencies: [
                "DuplexTestTimes", "DuplexSharing", "DuplexTestPeers", "DuplexTestProcesses", "DuplexTesting",
                "DuplexBase", "DuplexSockets", "DuplexWire", "DuplexDeflate", "DuplexWebSockets", "DuplexServer",
                "DuplexFoundation", httpTypes, logging,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DuplexInspectorTests",
            dependencies: [
                "DuplexTestTimes", "DuplexInspector", "DuplexTestPeers", "DuplexTestNetworks", "DuplexTestProcesses",
                "DuplexTesting",
                "DuplexSockets", "DuplexWire", "DuplexDeflate", "DuplexWebSockets", "DuplexServer",
                "DuplexFoundation", "DuplexSharing", httpTypes, logging, database,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DuplexTopicsTests",
            dependencies: [
                "DuplexTestTimes", "DuplexTestSplits", "DuplexTopics", "DuplexTestPeers", "DuplexTestProcesses",
                "DuplexTesting",
                "DuplexSockets",
                "DuplexWire", "DuplexWebSockets", "DuplexServer", "DuplexDeflate", httpTypes, logging, lifecycle,
                metrics,
                metricsTestKit,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "DuplexTestTimes", "DuplexTestPeers", "DuplexTestProcesses", "DuplexTesting", "DuplexDeflate",
                "DuplexSockets",
                "DuplexWire",
                "DuplexWebSockets", "DuplexServer", "DuplexCommand", httpTypes,
            ],
            exclude: ["Corpus"],
            swiftSettings: strict
        ),
        // Connections as they may come to pass, generated from seeds, against models of a page.
        .testTarget(
            name: "ScheduleTests",
            dependencies: [
                "DuplexTestTimes", "DuplexTestPeers", "DuplexTesting", "DuplexBase", "DuplexDeflate", "DuplexSockets",
                "DuplexWire",
                "DuplexWebSockets", "DuplexServer", logging,
            ],
            swiftSettings: strict
        ),
        // Peers that speak HTTP and frames by hand, for the tests above: what they send may be wrong on purpose.
        .target(
            name: "DuplexTestPeers",
            dependencies: [
                "DuplexTestTimes", "DuplexTesting", "DuplexSockets", "DuplexWire", "DuplexWebSockets", "DuplexServer",
                httpTypes, logging,
            ],
            path: "Tests/DuplexTestPeers",
            swiftSettings: strict
        ),
        // Inputs whole, in pieces, and byte by byte, for tests of rules.
        .target(name: "DuplexTestSplits", path: "Tests/DuplexTestSplits", swiftSettings: strict),
        // Limits of time in tests, which one variable makes longer.
        .target(
            name: "DuplexTestTimes",
            dependencies: ["DuplexSockets"],
            path: "Tests/DuplexTestTimes",
            swiftSettings: strict
        ),
        // Networks that tests take down, change and slow.
        .target(
            name: "DuplexTestNetworks",
            dependencies: ["DuplexSockets", "DuplexTestProcesses"],
            path: "Tests/DuplexTestNetworks",
            swiftSettings: strict
        ),
        // Programs that others wrote, run by tests; and what that does to what tests count.
        .target(
            name: "DuplexTestProcesses",
            dependencies: ["DuplexTestTimes", "DuplexSockets"],
            path: "Tests/DuplexTestProcesses",
            swiftSettings: strict
        ),
        .testTarget(
            name: "DuplexCommandTests",
            dependencies: [
                "DuplexTestTimes", "DuplexTestPeers", "DuplexTestProcesses", "DuplexTesting", "DuplexCommand",
                "DuplexBase",
                "DuplexSockets", "DuplexWire", "DuplexWebSockets", "DuplexServer", "DuplexSharing", "DuplexInspector",
                "DuplexTopics", httpTypes, logging,
                arguments, histogram, configuration,
            ],
            swiftSettings: strict
        ),
        // Against WebSocket libraries, a browser and a proxy that others wrote; scripts/setup --tests installs them.
        .testTarget(
            name: "PeerTests",
            dependencies: [
                "DuplexTestTimes", "DuplexTestProcesses", "DuplexSockets", "DuplexWire", "DuplexDeflate",
                "DuplexWebSockets",
                "DuplexServer",
                "DuplexTesting",
                "DuplexTestPeers",
                "DuplexCommand",
                "DuplexInspector",
                "DuplexSharing",
                "DuplexTopics",
                httpTypes, logging, database,
            ],
            exclude: ["Peers"],
            swiftSettings: strict
        ),
        // Reads the sources and the documents, and holds them to the rules of ARCHITECTURE.md.
        .testTarget(
            name: "ArchitectureTests",
            dependencies: ["DuplexTestTimes", "DuplexTestProcesses", "DuplexServer", "DuplexWebSockets", "DuplexWire"],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
