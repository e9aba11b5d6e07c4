package benchmarks;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.netpreserve.jwarc.HttpResponse;
import org.netpreserve.jwarc.ParsingException;
import org.netpreserve.jwarc.WarcReader;
import org.netpreserve.jwarc.WarcRecord;
import org.netpreserve.jwarc.WarcResponse;

/** Lists links as plain Java would: jwarc reads, jsoup parses; target and text of each a@href, nothing kept. Each payload once. */
public class ListLinks {
    public static void main(String[] paths) throws IOException {
        long pages = 0, links = 0, characters = 0;
        Set<String> seen = new HashSet<>();
        for (String path : paths) {
            try (WarcReader reader = new WarcReader(Path.of(path))) {
                for (WarcRecord record : reader) {
                    if (!(record instanceof WarcResponse response)) continue;
                    HttpResponse http;
                    try {
                        http = response.http();
                    } catch (ParsingException error) {
                        continue; // a dns record is a response, too
                    }
                    if (http.status() != 200 || !http.contentType().base().toString().equals("text/html")) continue;
                    if (response.payloadDigest().map(digest -> !seen.add(digest.toString())).orElse(false)) continue;
                    String charset = http.contentType().parameters().get("charset");
                    Document page = Jsoup.parse(http.body().stream(), charset, response.target());
                    pages++;
                    for (Element anchor : page.select("a[href]")) {
                        characters += anchor.absUrl("href").length() + anchor.text().length();
                        links++;
                    }
                }
            }
        }
        System.out.println(pages + " " + links + " " + characters);
    }
}
