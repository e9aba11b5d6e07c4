package arclink;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.minikdc.MiniKdc;
import org.apache.kerby.kerberos.kerb.client.KrbClient;
import org.apache.kerby.kerberos.kerb.client.KrbConfig;

/**
 * A {@link Cluster} with Kerberos, and its server in the same JVM. Arguments are those of the cluster.
 *
 * <p>{@code FOLDER/kerberos} has the settings of Kerberos, the keytab of the daemons, and the keytab and the ticket of a user, {@code archivist}.
 */
public final class SecuredCluster {
  private static final String USER = "archivist";

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0], "kerberos");
    MiniKdc server = new MiniKdc(MiniKdc.createConf(), folder.toFile());
    server.start();
    // Host names are taken as they are written, whatever this machine calls itself.
    String ownNames = "[libdefaults]\n    rdns = false\n    dns_canonicalize_hostname = false";
    Path settings = folder.resolve("krb5.conf");
    Files.writeString(settings, Files.readString(server.getKrb5conf().toPath()).replace("[libdefaults]", ownNames));
    server.createPrincipal(folder.resolve("service.keytab").toFile(), "hdfs/localhost", "HTTP/localhost");
    File keytab = folder.resolve("user.keytab").toFile();
    server.createPrincipal(keytab, USER);
    KrbConfig conf = new KrbConfig();
    conf.addKrb5Config(settings.toFile());
    KrbClient client = new KrbClient(conf);
    client.init();
    client.storeTicket(client.requestTgt(USER + "@" + server.getRealm(), keytab), folder.resolve("ticket").toFile());
    Cluster.main(arguments);
  }
}
