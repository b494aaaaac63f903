// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the desktop's settings say about proxies, by libproxy, where that is installed.
///
/// It is loaded when it is first asked for, and stays loaded. It reads GNOME's, KDE's and macOS' settings, and runs scripts (PAC)
/// where it has been built, or has plugins, for that.
@safe package final class ProxyLibrary: Sendable {
    private typealias Make = @convention(c) () -> OpaquePointer?
    private typealias Ask =
        @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?

    #if canImport(Darwin)
    private static let file = "libproxy.1.dylib"
    #else
    private static let file = "libproxy.so.1"
    #endif

    /// The library; `nil` where it isn't installed.
    package static let shared = ProxyLibrary()

    /// What keeps its settings, for as long as the process lives; libproxy allows it to be used from any thread.
    private nonisolated(unsafe) let factory: OpaquePointer
    private let ask: Ask
    /// Held while it is asked: some versions can't run a script beside another one.
    private let turn = Mutex(())

    private init?() {
        // Lazily, and with its names to itself. The two functions are those of its header, which have not changed since 0.3.
        guard let library = unsafe dlopen(Self.file, RTLD_LAZY | RTLD_LOCAL),
            let make = unsafe dlsym(library, "px_proxy_factory_new"),
            let ask = unsafe dlsym(library, "px_proxy_factory_get_proxies"),
            let factory = unsafe unsafeBitCast(make, to: Make.self)()
        else { return nil }
        unsafe self.factory = factory
        unsafe self.ask = unsafe unsafeBitCast(ask, to: Ask.self)
    }

    /// The proxies for a URL, the best first, as URLs; `direct://` is the direct way.
    ///
    /// Hazard: it blocks, for as long as a script takes to be fetched and run.
    ///
    /// - Parameter url: a URL of `http:` or `https:`, as libproxy knows these.
    /// - Returns: the URLs; none where libproxy fails. Of more than 32 the first ones.
    package func proxies(for url: String) -> [String] {
        guard let list = unsafe turn.withLock({ _ in unsafe ask(factory, url) }) else { return [] }
        defer { unsafe free(list) }
        var proxies: [String] = []
        var index = 0
        while let text = unsafe list[index] {
            if proxies.count < 32 { proxies.append(unsafe String(cString: text)) }
            unsafe free(text)
            index += 1
        }
        return proxies
    }
}
