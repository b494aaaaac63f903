// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Makes ASCII of host names with other characters (IDNA2008, UTS #46), by libidn2, if that is installed.
///
/// It is loaded when it is first asked for, and stays loaded.
@safe package final class HostNameLibrary: Sendable {
    /// Why a name can't be converted.
    package struct Refusal: Error, Sendable, Equatable {
        /// In the words of libidn2, such as `string contains a disallowed character`.
        package let reason: String
    }

    private typealias Convert =
        @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, Int32) -> Int32
    private typealias Explain = @convention(c) (Int32) -> UnsafePointer<CChar>?
    private typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void

    #if canImport(Darwin)
    private static let file = "libidn2.0.dylib"
    #else
    private static let file = "libidn2.so.0"
    #endif
    /// `IDN2_NFC_INPUT` and `IDN2_NONTRANSITIONAL`, as browsers and curl have it.
    private static let flags: Int32 = 1 | 8

    /// The library; `nil` if it isn't installed.
    package static let shared = HostNameLibrary()

    private let convert: Convert
    private let explain: Explain
    private let release: Free

    private init?() {
        // Lazily, and with its names to itself. The three functions are those of its header, which are there since 2.0.
        guard let library = unsafe dlopen(Self.file, RTLD_LAZY | RTLD_LOCAL),
            let convert = unsafe dlsym(library, "idn2_to_ascii_8z"),
            let explain = unsafe dlsym(library, "idn2_strerror"),
            let release = unsafe dlsym(library, "idn2_free")
        else { return nil }
        unsafe self.convert = unsafe unsafeBitCast(convert, to: Convert.self)
        unsafe self.explain = unsafe unsafeBitCast(explain, to: Explain.self)
        unsafe self.release = unsafe unsafeBitCast(release, to: Free.self)
    }

    /// A host name in ASCII, such as `xn--bcher-kva.example`; from any thread.
    ///
    /// - Parameter host: the name, without a zero in it.
    /// - Returns: the name as it is looked up. Hazard: it may have characters that were mapped to those of a URL, such as a colon.
    /// - Throws: ``Refusal``.
    package func ascii(_ host: String) throws(Refusal) -> String {
        var result: UnsafeMutablePointer<CChar>?
        // A string that ends with a zero, which isn't kept; the result is the library's, and freed by it.
        let code = unsafe convert(host, &result, Self.flags)
        defer { unsafe release(result) }
        guard code == 0, let text = unsafe result else {
            let reason = unsafe explain(code).map { unsafe String(cString: $0) }
            throw Refusal(reason: reason ?? "error \(code)")
        }
        return unsafe String(cString: text)
    }
}
