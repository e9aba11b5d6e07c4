import java.io.FileReader;
import java.util.Iterator;
import org.gephi.io.importer.api.EdgeDraft;
import org.gephi.io.importer.api.Issue;
import org.gephi.io.importer.api.Report;
import org.gephi.io.importer.impl.ImportContainerImpl;
import org.gephi.io.importer.plugin.file.ImporterGEXF;

/** Reads a GEXF file as Gephi does and prints what it became, fields parted by tabs: a line for the graph, one for each issue, one for each link. */
public class ReadGexf {
  public static void main(String[] arguments) throws Exception {
    ImportContainerImpl container = new ImportContainerImpl();
    Report report = new Report();
    container.setReport(report);
    ImporterGEXF importer = new ImporterGEXF();
    try (FileReader reader = new FileReader(arguments[0])) {
      importer.setReader(reader);
      importer.execute(container);
    }
    report.append(importer.getReport());
    boolean isValid = container.verify();
    report.close();
    System.out.printf("graph\t%b\t%d\t%d\t%b\t%s%n", isValid, container.getNodeCount(), container.getEdgeCount(),
        container.isDynamicGraph(), container.getTimeRepresentation());
    for (Iterator<Issue> issues = report.getIssues(Integer.MAX_VALUE); issues.hasNext();) {
      Issue issue = issues.next();
      System.out.printf("issue\t%s\t%s%n", issue.getLevel(), issue.getMessage());
    }
    for (EdgeDraft edge : container.getEdges()) {
      System.out.printf("link\t%s\t%s\t%s\t%s%n", edge.getSource().getLabel(), edge.getTarget().getLabel(), edge.getWeight(), edge.getTimeSet());
    }
  }
}
